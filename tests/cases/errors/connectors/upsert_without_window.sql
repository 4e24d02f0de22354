CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, since TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals');
INSERT INTO sums SELECT item, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
