-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO nowhere SELECT item, MAX(n) FROM (SELECT item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE)) GROUP BY item, window_start, window_end) GROUP BY item;
