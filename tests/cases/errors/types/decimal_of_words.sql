CREATE TABLE t (price DECIMAL(10, COUNT)) WITH ('connector' = 'blackhole');
