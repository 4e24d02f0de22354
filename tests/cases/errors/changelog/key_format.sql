CREATE TABLE stock (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'kafka', 'topic' = 'stock', 'properties.bootstrap.servers' = 'localhost:9092', 'value.format' = 'json',
    'key.format' = 'debezium-json', 'key.fields' = 'item');
