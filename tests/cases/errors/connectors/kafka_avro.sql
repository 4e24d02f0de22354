CREATE TABLE clicks (item STRING, price DOUBLE) WITH (
  'connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092',
  'value.format' = 'avro', 'value.avro.url' = 'http://localhost:8081'
);
SELECT * FROM clicks;
