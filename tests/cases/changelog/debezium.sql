CREATE TABLE stock (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'debezium-json', 'debezium-json.schema-include' = 'true',
    'maxFilesPerTrigger' = '1');

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
SET 'execution.runtime-mode' = 'streaming';

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
