CREATE TABLE t (a INT, b AS aa + 1) WITH ('connector' = 'parquet', 'path' = 'x');
