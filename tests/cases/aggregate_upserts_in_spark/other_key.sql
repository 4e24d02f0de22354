-- expect-not: aggregate_upserts_in_spark
-- a row that is counted anew leaves the row with its old count, which only a retraction takes away
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (item STRING, n BIGINT, PRIMARY KEY (item, n) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'counts');
INSERT INTO counts SELECT item, COUNT(*) FROM bid GROUP BY item;
