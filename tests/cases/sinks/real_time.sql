-- mode: streaming
SET 'tvfsql.real-time' = 'true';
SET 'execution.checkpointing.interval' = '10 s';
CREATE TABLE bids (item STRING, price DECIMAL(10, 2)) WITH (
    'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE dear (item STRING, price DECIMAL(10, 2)) WITH (
    'connector' = 'kafka', 'topic' = 'dear', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
INSERT INTO dear SELECT UPPER(item), price FROM bids WHERE price > 100;
