SET 'tvfsql.real-time' = 'true';
CREATE TABLE bids (k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'avro');
CREATE TABLE sums (k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
INSERT INTO sums SELECT k, v FROM bids;
