SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, n BIGINT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'totals');
INSERT INTO sums SELECT item, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item
ON CONFLICT DO DEDUPLICATE;
