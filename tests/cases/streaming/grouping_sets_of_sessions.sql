SET 'execution.runtime-mode' = 'streaming';
SELECT item, COUNT(*) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, ROLLUP (item);
