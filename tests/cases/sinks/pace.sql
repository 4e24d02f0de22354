-- mode: streaming
-- Rows leave this stream when windows end, so its micro-batches are rare between them.
SET 'tvfsql.pace' = '250 ms';
SET 'tvfsql.pace.between-windows' = '10 s';
CREATE TABLE bids (item STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
    'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE per_minute (item STRING, total DECIMAL(38, 2)) WITH (
    'connector' = 'kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
INSERT INTO per_minute SELECT item, SUM(price) FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, item;
