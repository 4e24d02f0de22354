-- Spark's own session_window() takes what cannot be merged.
SELECT window_start, window_end, window_time, item, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '90' SECOND))
GROUP BY window_start, window_end, window_time, item;
