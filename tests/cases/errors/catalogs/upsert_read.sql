CREATE TABLE orders (op STRING, item STRING PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'spark-catalog', 'changelog.op' = 'op');
SELECT item FROM orders;
