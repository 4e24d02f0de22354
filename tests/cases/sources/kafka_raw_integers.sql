-- Keys that are integers: four bytes, the highest one first. Offsets of the consumer group are not read.
CREATE TABLE readings (sensor INT, heat DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH (
  'connector' = 'kafka', 'topic' = 'readings', 'properties.bootstrap.servers' = 'localhost:9092', 'connector' = 'kafka',
  'key.format' = 'raw', 'key.fields' = 'sensor', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY',
  'scan.startup.mode' = 'group-offsets'
);
CREATE TABLE counted (sensor BIGINT, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'counted', 'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'raw', 'key.fields' = 'sensor', 'value.format' = 'json'
);
INSERT INTO counted
SELECT sensor, COUNT(*)
FROM TABLE(TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY sensor, window_start, window_end;
