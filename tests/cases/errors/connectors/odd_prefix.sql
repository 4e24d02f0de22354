CREATE TABLE z (a INT) WITH ('connector' = 'filesystem', 'path' = u&'a\0062c', 'format' = x&'csv');
