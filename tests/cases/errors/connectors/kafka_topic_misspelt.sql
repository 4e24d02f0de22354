CREATE TABLE orders (a INT) WITH (
  'connector' = 'kafka', 'topics' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
