-- Tables of the same name in two databases, and a view in one of them; names without a database are those of the one in use.
CREATE CATALOG other WITH ('type' = 'generic_in_memory');
CREATE DATABASE IF NOT EXISTS other.sales COMMENT 'auctions';
CREATE TABLE other.sales.bid (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/other.json', 'format' = 'json');
USE CATALOG other;
USE sales;
SHOW CURRENT DATABASE;
SHOW TABLES;
CREATE VIEW counted AS
SELECT window_start, window_end, bid.item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, bid.item;

SELECT counted.item, n, price
FROM other.sales.counted JOIN default_catalog.default_database.bid AS b ON counted.item = b.item;
