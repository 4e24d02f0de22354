SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.allow-lateness' = '1 h';
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;
