-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.rules.disabled' = 'aggregate_upserts_in_spark';
INSERT INTO nowhere SELECT item, COUNT(*) FROM bid GROUP BY item;
