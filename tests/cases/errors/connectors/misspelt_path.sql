CREATE TABLE z (a INT) WITH ('connector' = 'filesystem', 'paht' = 'x', 'format' = 'csv');
