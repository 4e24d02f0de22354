-- expect: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
SET 'pipeline.max-parallelism' = '8';
CREATE TABLE counts (item STRING, n BIGINT, total DECIMAL(38, 2), PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'counts', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json');
INSERT INTO counts
SELECT item, COUNT(*), SUM(x) FROM (SELECT item, price AS x FROM bid UNION ALL SELECT item, reserve FROM auction)
GROUP BY item;
