-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE changes (item STRING, price INT, op STRING)
WITH ('connector' = 'filesystem', 'path' = 'data/changes', 'format' = 'json', 'changelog.op' = 'op');
INSERT INTO nowhere SELECT item, COUNT(*) FROM changes GROUP BY item;
