CREATE TABLE t (a TIME(9)) WITH ('connector' = 'print');
