CREATE TABLE totals (item ROW<name STRING>)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals');
