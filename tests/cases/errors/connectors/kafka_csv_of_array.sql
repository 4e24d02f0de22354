CREATE TABLE t (a ARRAY<INT>) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'csv'
);
