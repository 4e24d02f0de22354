-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
INSERT INTO nowhere SELECT item, COUNT(*) FROM bid GROUP BY item;
