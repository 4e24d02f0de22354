SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE bid_history (item STRING, price INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'data/old', 'format' = 'parquet');
CREATE TABLE live (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'data/new', 'format' = 'csv', 'tvfsql.history' = 'bid_history');
SELECT item, price FROM live WHERE price > 3;
