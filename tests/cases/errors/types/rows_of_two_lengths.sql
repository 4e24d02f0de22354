-- The third value was compared with nothing.
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT a FROM t WHERE (a, b) = (1, 2, 3);
