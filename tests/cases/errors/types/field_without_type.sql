CREATE TABLE t (a ROW<b INT, c>) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
