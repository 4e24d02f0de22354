CREATE TABLE counts (bids BIGINT, item STRING) PARTITIONED BY (item)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'canal-json');
INSERT INTO counts SELECT COUNT(*), item FROM bid GROUP BY item;
