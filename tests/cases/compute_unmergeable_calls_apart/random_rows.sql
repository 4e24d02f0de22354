-- Read twice, these would be other rows.
-- expect-not: compute_unmergeable_calls_apart
SELECT window_start, window_end, SUM(price) AS total, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(HOP((SELECT * FROM bid WHERE RAND() < 0.5), DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
