-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO nowhere SELECT item, CAST(SUM(rating) AS BIGINT) FROM bid GROUP BY item;
