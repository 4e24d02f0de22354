-- The metadata of Debezium's messages: the same for the insert of a row and its delete, or of each message alone.
CREATE TABLE orders (
  id INT,
  amount DECIMAL(10, 2),
  db STRING METADATA FROM 'value.source.database' VIRTUAL,
  changed TIMESTAMP(3) METADATA FROM 'value.source.timestamp' VIRTUAL,
  sent TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,
  about MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL,
  WATERMARK FOR changed AS changed - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json'
);
SELECT window_start, db, about['table'] AS t, SUM(amount) AS total, COUNT(sent) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(changed), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, db, about['table'];
CREATE TABLE copied (
  id INT, `table` STRING METADATA FROM 'value.table' VIRTUAL, keys ARRAY<STRING> METADATA FROM 'value.pk-names' VIRTUAL
) WITH (
  'connector' = 'kafka', 'topic' = 'copied', 'properties.bootstrap.servers' = 'localhost:9092',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'canal-json'
);
SET 'execution.runtime-mode' = 'batch';
SELECT id, `table`, keys FROM copied;
