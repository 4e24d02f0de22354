CREATE TABLE t (a, b) WITH ('connector' = 'print');
