-- Spark's own session_window() takes what cannot be merged.
SELECT window_start, window_end, window_time, item, percentile(price, 0.5) AS middle
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '90' SECOND))
GROUP BY window_start, window_end, window_time, item;
