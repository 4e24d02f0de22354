CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, n BIGINT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals');
INSERT INTO sums SELECT item, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
