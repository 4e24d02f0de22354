CREATE TABLE d (a INT) WITH ('connector' = 'mysql-cdc', 'hostname' = 'h'); SELECT * FROM d;
