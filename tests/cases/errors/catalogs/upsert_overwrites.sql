CREATE TABLE orders (item STRING PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'spark-catalog', 'format' = 'iceberg');
INSERT OVERWRITE orders SELECT item FROM bid;
