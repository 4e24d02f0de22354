CREATE TABLE orders (item STRING PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'spark-catalog', 'format' = 'parquet');
