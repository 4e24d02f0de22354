SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.allow-lateness' = '10 min';
SELECT window_end, item, COUNT(*)
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
