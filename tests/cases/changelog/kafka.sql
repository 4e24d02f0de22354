CREATE TABLE stock (
    item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), part INT METADATA FROM 'partition' VIRTUAL,
    WATERMARK FOR changed AS changed
)
WITH ('connector' = 'kafka', 'topic' = 'stock', 'properties.bootstrap.servers' = 'localhost:9092', 'value.format' = 'debezium-json',
    'value.debezium-json.schema-include' = 'true', 'scan.bounded.mode' = 'latest-offset');
SET 'execution.runtime-mode' = 'streaming';

SELECT window_start, window_end, item, SUM(price) AS total, MAX(part) AS part
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
