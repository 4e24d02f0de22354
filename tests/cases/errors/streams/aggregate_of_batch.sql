SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, PERCENTILE(price, 0.5) AS middle
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
