SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE late_bids (item STRING, window_name STRING, window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tvfsql.late-output' = 'late_bids';
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
