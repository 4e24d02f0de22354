SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE windows (ends TIMESTAMP(3), bids BIGINT) WITH ('connector' = 'filesystem', 'path' = 'windows', 'format' = 'json');
INSERT INTO windows
SELECT window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
