SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, b STRING) WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'h:1', 'key.format' = 'json', 'value.format' = 'json');
SELECT a FROM t WHERE b <> 'x';
SELECT b, COUNT(*) AS n FROM t GROUP BY b;
