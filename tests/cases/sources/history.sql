-- The history ends where the live rows begin, by a time that is computed from another column.
CREATE TABLE old (item STRING, price INT, at STRING) WITH ('connector' = 'filesystem', 'path' = 'data/old', 'format' = 'parquet');
CREATE TABLE live (item STRING, price INT, at STRING, ts AS TO_TIMESTAMP(at), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/new', 'format' = 'csv', 'tvfsql.history' = 'old', 'tvfsql.history.until' = '2020-04-15 08:00:00');
SELECT item, price FROM live WHERE price > 3;
