CREATE TABLE t (a ROW<INT, STRING>) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
