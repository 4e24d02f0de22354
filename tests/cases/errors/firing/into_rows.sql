SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (window_end TIMESTAMP(3), bids BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'csv');
SET 'table.exec.emit.allow-lateness' = '10 min';
INSERT INTO counts
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
