CREATE TABLE stock (
    item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), arrived TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
    WATERMARK FOR changed AS changed
)
WITH ('connector' = 'kafka', 'topic' = 'stock', 'properties.bootstrap.servers' = 'localhost:9092', 'value.format' = 'debezium-json',
    'value.debezium-json.schema-include' = 'true', 'scan.bounded.mode' = 'latest-offset');
