CREATE TABLE prices (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'prices', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json'
);
