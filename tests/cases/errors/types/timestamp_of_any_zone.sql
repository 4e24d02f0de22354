CREATE TABLE t (a TIMESTAMP(3) WITH TIME ZONE) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
