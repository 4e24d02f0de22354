-- The key holds a column that the value does not repeat; several topics; a start in time; bounded, so a batch.
CREATE TABLE messages (item STRING, price DECIMAL(10, 2), bidtime TIMESTAMP(3)) WITH (
  'connector' = 'kafka', 'topic' = 'bids; more', 'properties.bootstrap.servers' = 'a:9092,b:9092',
  'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '1700000000000',
  'key.format' = 'raw', 'key.fields' = 'item', 'value.format' = 'csv', 'value.csv.field-delimiter' = ';',
  'value.fields-include' = 'EXCEPT_KEY', 'scan.bounded.mode' = 'latest-offset'
);
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE messages, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
