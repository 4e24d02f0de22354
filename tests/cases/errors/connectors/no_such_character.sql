CREATE TABLE z (a INT) WITH ('connector' = 'filesystem', 'path' = U&'\+ffffff', 'format' = 'csv');
