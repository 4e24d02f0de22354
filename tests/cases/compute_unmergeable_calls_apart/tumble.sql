-- Each row is in one window, so nothing is copied.
-- expect-not: compute_unmergeable_calls_apart
SELECT window_start, window_end, SUM(price) AS total, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
