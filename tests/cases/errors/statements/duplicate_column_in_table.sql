CREATE TABLE t (a INT, b INT, A STRING) WITH ('connector' = 'print');
