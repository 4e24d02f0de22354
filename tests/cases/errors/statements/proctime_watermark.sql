CREATE TABLE t (a INT, pt AS PROCTIME(), WATERMARK FOR pt AS pt - INTERVAL '5' SECOND) WITH ('connector' = 'parquet', 'path' = 'x');
