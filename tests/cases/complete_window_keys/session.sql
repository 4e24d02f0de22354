-- Two sessions of different items may start together.
-- expect-not: complete_window_keys
SELECT window_start, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start;
