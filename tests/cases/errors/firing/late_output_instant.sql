CREATE TABLE late_bids (item STRING, window_time TIMESTAMP_LTZ(3))
WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_bids';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
