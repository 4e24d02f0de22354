CREATE TABLE totals_per_item (item, ends)
WITH ('connector' = 'filesystem', 'path' = 'out/totals_per_item', 'format' = 'json')
AS SELECT window_end AS ends, item FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
DESCRIBE totals_per_item;
