CREATE TABLE counts (bids BIGINT, item STRING)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'debezium-json');
INSERT INTO counts SELECT COUNT(*), item FROM bid GROUP BY item;
