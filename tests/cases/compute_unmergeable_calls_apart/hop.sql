-- expect: compute_unmergeable_calls_apart
-- expect: split_local_global
SELECT window_start, window_end, item, SUM(price) AS total, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
