CREATE TABLE t (a, b INT) WITH ('connector' = 'print');
