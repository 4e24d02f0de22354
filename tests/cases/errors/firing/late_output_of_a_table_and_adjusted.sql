CREATE TABLE late_bids (item STRING) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE sale (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in/sale', 'format' = 'json', 'tvfsql.late-output' = 'late_bids');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE sale, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
