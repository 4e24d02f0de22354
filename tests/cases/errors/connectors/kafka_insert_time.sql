CREATE TABLE t (a INT, ts TIMESTAMP(3) METADATA FROM 'timestamp') WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
INSERT INTO t SELECT 1, TIMESTAMP '2020-01-01 00:00:00';
