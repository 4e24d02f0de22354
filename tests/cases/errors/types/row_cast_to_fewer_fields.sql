-- The last field would be lost.
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT CAST(ROW(a, '1') AS ROW<x STRING>) FROM t;
