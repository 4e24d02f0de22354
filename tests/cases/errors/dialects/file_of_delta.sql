CREATE TABLE d (a INT) WITH ('connector' = 'delta', 'table-path' = '/d'); SELECT * FROM d;
