-- expect-not: push_filter_below_window
SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE price > 10
GROUP BY item, window_start, window_end;
