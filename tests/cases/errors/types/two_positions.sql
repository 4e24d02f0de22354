-- The second key was lost.
CREATE TABLE t (m MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT m['a', 'b'] FROM t;
