CREATE TABLE t (a ARRAY<does<INT, STRING>>) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
