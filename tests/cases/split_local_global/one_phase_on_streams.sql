-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
