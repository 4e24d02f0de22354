-- The last key has no value.
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT MAP['a', 1, 'b'] FROM t;
