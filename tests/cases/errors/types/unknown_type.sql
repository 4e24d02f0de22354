CREATE TABLE t (a INT, b STRNG) WITH ('connector' = 'print');
