CREATE TABLE late_bids (item STRING, cost DOUBLE) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_bids';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
