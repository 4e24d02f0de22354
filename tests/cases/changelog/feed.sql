-- Streams read the changes of the table; batch reads its rows.
CREATE TABLE stock (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'spark-catalog', 'table-name' = 'shop.stock', 'format' = 'delta', 'changelog.feed' = 'true');
CREATE TABLE orders (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'spark-catalog', 'table-name' = 'lake.shop.orders', 'format' = 'iceberg', 'changelog.feed' = 'true',
    'startingVersion' = '3');

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
SELECT item, price FROM orders;
SET 'execution.runtime-mode' = 'streaming';

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
