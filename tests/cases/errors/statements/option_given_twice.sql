CREATE TABLE t (a INT) WITH ('connector' = 'print', 'connector' = 'blackhole');
