SET 'tvfsql.real-time' = 'true';
CREATE TABLE bids (k INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TABLE sums (k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
INSERT INTO sums SELECT k, SUM(v)
FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, k;
