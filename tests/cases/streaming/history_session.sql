SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE bid_history (item STRING, price INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'data/old', 'format' = 'parquet');
CREATE TABLE live (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/new', 'format' = 'csv', 'tvfsql.history' = 'bid_history');
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(SESSION(TABLE live PARTITION BY item, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
