-- expect-not: aggregate_windows_in_one_pass
SELECT window_name, window_start, window_end, item, HISTOGRAM_NUMERIC(price, 5) AS middle
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute, HOP(INTERVAL '1' MINUTE, INTERVAL '5' MINUTE) AS five
))
GROUP BY window_name, window_start, window_end, item;
