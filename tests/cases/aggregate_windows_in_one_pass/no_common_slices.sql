-- The slices of 10 minutes are not made of those of 7.
-- expect-not: aggregate_windows_in_one_pass
SELECT window_name, window_start, window_end, item, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '7' MINUTE) AS seven, TUMBLE(INTERVAL '10' MINUTE) AS ten
))
GROUP BY window_name, window_start, window_end, item;
