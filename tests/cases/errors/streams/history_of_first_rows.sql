SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE bid_history (item STRING, price INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'data/old', 'format' = 'parquet');
CREATE TABLE live (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'data/new', 'format' = 'csv', 'tvfsql.history' = 'bid_history');
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) AS r FROM live) WHERE r = 1;
