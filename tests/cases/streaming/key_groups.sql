SET 'execution.runtime-mode' = 'streaming';
SET 'pipeline.max-parallelism' = '16';
SELECT window_end, item, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
