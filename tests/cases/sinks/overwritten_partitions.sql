CREATE TABLE by_item (item STRING, total BIGINT, day STRING) PARTITIONED BY (day)
WITH ('connector' = 'filesystem', 'path' = 'out/by item', 'format' = 'parquet');
INSERT OVERWRITE by_item SELECT item, bidder, item FROM bid;
