SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '10 s';
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
HAVING COUNT(*) > 1
EMIT WITH LATENESS INTERVAL '1' HOUR;
