CREATE TABLE counts (bids BIGINT, item STRING)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'debezium-json', 'debezium-json.schema-include' = 'true');
INSERT INTO counts SELECT COUNT(*), item FROM bid GROUP BY item;
