CREATE TABLE t (a STRING, b STRING) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'raw'
);
