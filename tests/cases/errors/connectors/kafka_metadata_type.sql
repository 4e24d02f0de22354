CREATE TABLE t (a INT, ts STRING METADATA FROM 'timestamp') WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
