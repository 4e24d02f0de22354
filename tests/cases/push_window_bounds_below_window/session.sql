-- expect-not: push_window_bounds_below_window
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00'
GROUP BY window_start, window_end, item;
