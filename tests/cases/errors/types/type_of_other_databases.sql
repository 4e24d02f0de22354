CREATE TABLE t (a MEDIUMINT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
