CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x');
