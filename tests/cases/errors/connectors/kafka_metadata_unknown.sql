CREATE TABLE t (a INT, ts TIMESTAMP(3) METADATA FROM 'timestmp') WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
