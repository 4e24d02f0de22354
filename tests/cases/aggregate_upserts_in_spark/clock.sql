-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (item STRING, n BIGINT, at TIMESTAMP_LTZ(3), PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'counts');
INSERT INTO counts SELECT item, n, m FROM (SELECT item, COUNT(*) AS n, MAX(CURRENT_TIMESTAMP) AS m FROM bid GROUP BY item);
