CREATE TABLE orders (id INT, changed TIMESTAMP(3) METADATA FROM 'value.source.timestamp' VIRTUAL) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json'
);
SELECT id, changed FROM orders;
