CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, n BIGINT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals');
INSERT INTO sums SELECT item, COUNT(*) FROM bid GROUP BY item
ON CONFLICT DO ERROR;
INSERT INTO sums SELECT item, bidder FROM bid on conflict do deduplicate;
