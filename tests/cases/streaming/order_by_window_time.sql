SET 'execution.runtime-mode' = 'streaming';
SELECT window_time, item, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, window_time, item
ORDER BY window_time, bids DESC;
