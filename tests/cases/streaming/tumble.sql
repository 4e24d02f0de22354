SET 'execution.runtime-mode' = 'streaming';
-- expect: split_local_global
SELECT window_start, window_end, item, COUNT(*) AS bids, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
