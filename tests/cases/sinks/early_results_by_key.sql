SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
CREATE TABLE latest (starts TIMESTAMP(3), item STRING, bids BIGINT, PRIMARY KEY (starts, item) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE hot (starts TIMESTAMP(3), item STRING, bids BIGINT, PRIMARY KEY (starts, item) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'hot', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE stored (starts TIMESTAMP(3), item STRING, bids BIGINT, PRIMARY KEY (starts, item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost:5432/shop', 'table-name' = 'totals');
CREATE VIEW counted AS
SELECT window_start, item, COUNT(*) AS bids FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
INSERT INTO latest SELECT * FROM counted;
INSERT INTO hot SELECT * FROM counted WHERE MOD(bids, 3) = 1;
INSERT INTO stored SELECT * FROM counted;
