-- A table of Spark's catalogs is filled by the names of its columns. A stream writes each micro-batch on its own.
CREATE DATABASE shop;
CREATE TABLE shop.totals (item STRING, n BIGINT, window_end TIMESTAMP(3)) WITH ('connector' = 'spark-catalog');
INSERT INTO shop.totals (window_end, item, n)
SELECT window_end, item, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
