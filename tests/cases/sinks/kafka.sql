-- A message for each row: a key of one column, a value of all, and the partition that the query says.
CREATE TABLE windows (window_start TIMESTAMP(3), item STRING, total DECIMAL(38, 2), part BIGINT METADATA FROM 'partition')
WITH (
  'connector' = 'kafka', 'topic' = 'windows', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json',
  'key.fields' = 'item', 'format' = 'json'
);
INSERT INTO windows
SELECT window_start, item, SUM(price), 0
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
