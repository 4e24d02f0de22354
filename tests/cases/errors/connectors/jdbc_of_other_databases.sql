CREATE TABLE sums (item STRING)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://localhost/shop', 'table-name' = 'totals');
INSERT INTO sums SELECT item FROM bid;
