SET 'tvfsql.real-time' = 'true';
CREATE TABLE ticks (k INT, v BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');
CREATE TABLE sums (k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
INSERT INTO sums SELECT k, v FROM ticks;
