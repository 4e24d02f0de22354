CREATE TABLE orders (a INT) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'propertis.bootstrap.server' = 'localhost:9092', 'format' = 'json'
);
