CREATE TABLE t (a TIME(3)) WITH ('connector' = 'print');
