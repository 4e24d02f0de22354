-- A query gives rows: each of them comes.
CREATE TABLE counts (bids BIGINT, op STRING, item STRING)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'json', 'changelog.op' = 'op');
INSERT INTO counts (item, bids) SELECT item, COUNT(*) FROM bid GROUP BY item;
