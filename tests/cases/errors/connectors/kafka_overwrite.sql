CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
INSERT OVERWRITE t SELECT 1;
