CREATE TABLE t (a STRING, WATERMARK FOR a AS a - INTERVAL '5' SECOND) WITH ('connector' = 'print');
