-- expect-not: split_local_global
SET 'tvfsql.rules.disabled' = 'split_local_global';
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
