SET 'execution.runtime-mode' = 'streaming';
-- expect: split_local_global
-- One side of a union has a history, which ends where its live rows begin.
CREATE TABLE bid_history (item STRING, price INT, ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'data/old', 'format' = 'parquet');
CREATE TABLE live (item STRING, price INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/new', 'format' = 'csv', 'tvfsql.history' = 'bid_history', 'tvfsql.history.until' = '2020-04-15 08:00:00');
CREATE TABLE other (item STRING, price INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/other', 'format' = 'csv');
SELECT window_start, item, SUM(price) AS total
FROM TABLE(CUMULATE((SELECT item, price, ts FROM other UNION ALL SELECT item, price, ts FROM live WHERE price > 3),
    DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item HAVING SUM(price) > 10;
