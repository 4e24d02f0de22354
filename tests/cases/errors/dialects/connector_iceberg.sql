CREATE TABLE d (a INT) WITH ('connector' = 'iceberg', 'catalog-name' = 'c'); SELECT * FROM d;
