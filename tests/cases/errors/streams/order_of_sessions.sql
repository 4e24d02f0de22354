SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, item, COUNT(*) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end ORDER BY window_start;
