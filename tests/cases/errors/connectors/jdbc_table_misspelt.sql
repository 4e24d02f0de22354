CREATE TABLE totals (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost:5432/shop', 'table' = 'totals');
