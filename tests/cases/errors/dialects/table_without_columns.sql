CREATE TABLE d WITH ('connector' = 'filesystem', 'path' = 'd.csv', 'format' = 'csv'); SELECT * FROM d;
