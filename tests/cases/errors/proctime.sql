CREATE TABLE t (a INT, pt AS PROCTIME()) WITH ('connector' = 'parquet', 'path' = 'x');
