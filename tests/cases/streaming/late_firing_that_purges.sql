CREATE TABLE counts (window_end TIMESTAMP(3), bids BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'csv');
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.allow-lateness' = '10 min';
SET 'tvfsql.emit.late' = 'purge';
INSERT INTO counts
SELECT window_end, COUNT(*) AS bids
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end;
