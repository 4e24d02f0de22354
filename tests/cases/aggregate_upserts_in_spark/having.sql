-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO nowhere SELECT item, COUNT(*) FROM bid GROUP BY item HAVING COUNT(*) < 3;
