CREATE TABLE orders (
    id BIGINT, item STRING, price DECIMAL(10, 2), tags ARRAY<STRING>, ordertime TIMESTAMP(3), part INT METADATA FROM 'partition' VIRTUAL
) WITH (
    'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'raw', 'key.fields' = 'id', 'value.format' = 'avro-confluent', 'value.fields-include' = 'EXCEPT_KEY',
    'value.avro-confluent.url' = 'http://localhost:8081', 'value.avro-confluent.basic-auth.credentials-source' = 'USER_INFO',
    'value.avro-confluent.basic-auth.user-info' = '${ENV:REGISTRY_LOGIN}', 'scan.bounded.mode' = 'latest-offset'
);
CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, total DECIMAL(38, 2)) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'avro-confluent', 'value.format' = 'avro-confluent', 'key.avro-confluent.url' = 'http://localhost:8081',
    'value.avro-confluent.url' = 'http://localhost:8081', 'value.avro-confluent.subject' = 'Sums'
);
SET 'execution.runtime-mode' = 'batch';
INSERT INTO sums SELECT item, SUM(price) FROM orders GROUP BY item;
SHOW CREATE TABLE orders;
