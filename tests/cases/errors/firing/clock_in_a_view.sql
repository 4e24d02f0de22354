SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.allow-lateness' = '10 min';
CREATE VIEW counts AS
SELECT window_end, COUNT(*) AS n, CURRENT_TIMESTAMP AS made
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
SELECT window_end, n, made FROM counts;
