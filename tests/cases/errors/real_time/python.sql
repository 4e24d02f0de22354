SET 'tvfsql.real-time' = 'true';
CREATE TABLE bids (k INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TABLE sums (k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE FUNCTION doubled AS 'user_functions.Doubled' LANGUAGE PYTHON;
INSERT INTO sums SELECT k, doubled(v) FROM bids;
