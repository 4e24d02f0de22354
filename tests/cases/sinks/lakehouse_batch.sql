-- A table that Spark has is not created. In batch there is no number of a micro-batch.
CREATE DATABASE shop;
CREATE TABLE shop.counts (item STRING PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('connector' = 'spark-catalog');
INSERT INTO shop.counts SELECT item, COUNT(*) FROM bid GROUP BY item;
