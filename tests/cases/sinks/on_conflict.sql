CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, n BIGINT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals');
-- The keys are those of the table, so the clause says nothing.
INSERT INTO sums SELECT item, COUNT(*) FROM bid GROUP BY item
ON CONFLICT DO ERROR;
-- Rows of batch have an order with ORDER BY only.
INSERT INTO sums SELECT item, bidder FROM bid on conflict do deduplicate;
INSERT INTO sums SELECT item, bidder FROM bid ORDER BY bidtime ON CONFLICT DO NOTHING;
-- The last window of an item stays.
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO sums SELECT item, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item
ON CONFLICT DO DEDUPLICATE;
CREATE TABLE first_prices (item STRING PRIMARY KEY NOT ENFORCED, price DECIMAL(10, 2))
WITH ('connector' = 'spark-catalog', 'table-name' = 'lake.shop.first_prices', 'format' = 'iceberg');
INSERT INTO first_prices SELECT item, price FROM bid ON CONFLICT DO NOTHING;
