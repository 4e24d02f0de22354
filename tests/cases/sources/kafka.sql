-- A value in JSON; metadata, of which a time is read as the wall clock of the session's zone.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE messages (
  item STRING,
  `the price` DECIMAL(10, 2),
  ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,
  at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  `partition` BIGINT METADATA VIRTUAL,
  `offset` BIGINT METADATA VIRTUAL,
  id STRING METADATA FROM 'key',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092',
  'properties.client.id' = 'me', 'format' = 'json', 'json.ignore-parse-errors' = 'true', 'maxOffsetsPerTrigger' = '1000'
);
SHOW CREATE TABLE messages;
SET 'execution.runtime-mode' = 'batch';
SELECT item, `the price`, ts, at, `partition`, `offset`, id FROM messages;
