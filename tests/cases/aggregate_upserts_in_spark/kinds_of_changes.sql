-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO screen SELECT item, COUNT(*) FROM bid GROUP BY item;
