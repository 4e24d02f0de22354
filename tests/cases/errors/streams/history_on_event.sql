SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE bid_history (item STRING, price INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'data/old', 'format' = 'parquet');
CREATE TABLE live (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'data/new', 'format' = 'csv', 'tvfsql.history' = 'bid_history', 'scan.watermark.emit.strategy' = 'on-event');
SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE live, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
