CREATE TABLE orders (
    id BIGINT NOT NULL, item STRING, tags ARRAY<STRING NOT NULL>, ordertime TIMESTAMP(3) NOT NULL,
    place ROW<city STRING, since TIMESTAMP(0)>, WATERMARK FOR ordertime AS ordertime - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'avro', 'key.fields' = 'item;id', 'value.format' = 'avro', 'value.avro.timestamp_mapping.legacy' = 'false'
);
CREATE TABLE sums (item STRING, total BIGINT NOT NULL, PRIMARY KEY (item) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'avro', 'value.format' = 'avro'
);
SET 'execution.runtime-mode' = 'batch';
INSERT INTO sums SELECT place.city, SUM(id) FROM orders GROUP BY place.city;
SHOW CREATE TABLE orders;
