SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.allow-lateness' = '10 min';
SELECT window_end, COUNT(*), CURRENT_TIMESTAMP
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
