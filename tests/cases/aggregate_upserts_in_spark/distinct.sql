-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO nowhere SELECT item, COUNT(DISTINCT price) FROM bid GROUP BY item;
