CREATE TABLE d (a INT) WITH ('connector' = 'elasticsearch-7', 'hosts' = 'h', 'index' = 'i'); SELECT * FROM d;
