SET 'execution.runtime-mode' = 'streaming';
-- expect: split_local_global
SELECT window_start, window_end, item, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MONTH))
GROUP BY window_start, window_end, item
