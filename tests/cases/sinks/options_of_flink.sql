-- mode: streaming
SET 'execution.checkpointing.interval' = '10 s';
SET 'pipeline.name' = 'bids per minute';
SET 'parallelism.default' = '4';
CREATE TABLE bids (
    item STRING, price DECIMAL(10, 2), bidtime TIMESTAMP(3), WATERMARK FOR bidtime AS bidtime - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092',
    'properties.group.id' = 'tvfsql', 'properties.auto.offset.reset' = 'latest', 'scan.startup.mode' = 'group-offsets',
    'scan.topic-partition-discovery.interval' = '1 min', 'scan.parallelism' = '2', 'value.format' = 'json',
    'value.json.fail-on-missing-field' = 'false', 'value.json.ignore-parse-errors' = 'true'
);
CREATE TABLE per_minute (window_start TIMESTAMP(3), n BIGINT) WITH (
    'connector' = 'kafka', 'topic' = 'per_minute', 'properties.bootstrap.servers' = 'localhost:9092',
    'sink.partitioner' = 'round-robin', 'sink.delivery-guarantee' = 'at-least-once', 'format' = 'json',
    'json.timestamp-format.standard' = 'SQL', 'json.encode.ignore-null-fields' = 'true',
    'json.map-null-key.mode' = 'DROP'
);
INSERT INTO per_minute
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
CREATE TABLE folder (window_start TIMESTAMP(3), n BIGINT) WITH (
    'connector' = 'filesystem', 'path' = 'per_minute', 'format' = 'csv', 'csv.disable-quote-character' = 'true',
    'csv.allow-comments' = 'true', 'csv.trim-spaces' = 'false', 'sink.rolling-policy.rollover-interval' = '15 min'
);
INSERT INTO folder
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
