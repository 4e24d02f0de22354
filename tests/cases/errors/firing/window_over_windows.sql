SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.allow-lateness' = '10 min';
SET 'tvfsql.emit.late' = 'purge';
CREATE VIEW counts AS
SELECT window_time AS rowtime, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, window_time, item;
SELECT window_end, SUM(n) FROM TABLE(TUMBLE(TABLE counts, DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
