CREATE TABLE counts (op STRING, window_end TIMESTAMP(3), bids BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'csv', 'changelog.op' = 'op');
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.allow-lateness' = '10 min';
INSERT INTO counts
SELECT window_end, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
