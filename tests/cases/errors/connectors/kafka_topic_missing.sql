CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
