CREATE TABLE t (a DECIMAL(10, 2 . [   )) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
