CREATE TABLE t (a INT, ts TIMESTAMP(3) METADATA FROM 'timestamp') WITH ('connector' = 'parquet', 'path' = 'x');
