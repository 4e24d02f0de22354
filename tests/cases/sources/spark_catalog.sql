-- A declared table of Spark's catalogs: its columns are cast to the declared types, and a stream reads it as a stream.
CREATE TABLE orders (
    item STRING,
    ts   TIMESTAMP(3),
    WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'spark-catalog', 'table-name' = 'lake.shop.orders', 'maxFilesPerTrigger' = '2');
SELECT window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
