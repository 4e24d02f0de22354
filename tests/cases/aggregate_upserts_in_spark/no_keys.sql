-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO nowhere SELECT 'a', COUNT(*) FROM bid;
