CREATE TABLE by_item (item STRING, total BIGINT, day STRING) PARTITIONED BY (day)
WITH ('connector' = 'filesystem', 'path' = 'out/by item', 'format' = 'csv', 'csv.field-delimiter' = '|', 'csv.header' = 'true');
INSERT INTO by_item SELECT item, SUM(quantity), CAST(CAST(bidtime AS DATE) AS STRING) FROM bid GROUP BY item, CAST(CAST(bidtime AS DATE) AS STRING);
