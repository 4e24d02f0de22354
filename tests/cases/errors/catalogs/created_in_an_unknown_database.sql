CREATE TABLE shop.orders (item STRING) WITH ('connector' = 'spark-catalog');
