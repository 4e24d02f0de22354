-- expect-not: aggregate_windows_in_one_pass
SELECT window_name, window_start, window_end, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute, TUMBLE(INTERVAL '1' HOUR) AS hour
))
GROUP BY window_name, window_start, window_end;
