SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'tvfsql.cumulate.emit' = 'changed';
SELECT window_end, COUNT(*)
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end;
