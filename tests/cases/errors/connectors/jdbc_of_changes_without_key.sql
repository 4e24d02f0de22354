CREATE TABLE totals (op STRING, item STRING)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals', 'changelog.op' = 'op');
