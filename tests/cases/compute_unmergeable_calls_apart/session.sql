-- The start of a session identifies it within its key.
-- expect: compute_unmergeable_calls_apart
SELECT window_start, item, COUNT(*) AS n, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '90' SECOND))
GROUP BY window_start, window_end, item;
