SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
SELECT window_end, item, COUNT(*) AS bids
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
