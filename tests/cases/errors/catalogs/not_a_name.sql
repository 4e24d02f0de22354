CREATE TABLE orders (item STRING) WITH ('connector' = 'spark-catalog', 'table-name' = 'shop..orders');
