CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 'a;b', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
INSERT INTO t SELECT 1;
