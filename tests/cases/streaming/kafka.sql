-- From topic to topic, without end: so it is a stream, with a channel of the watermark for each partition.
CREATE TABLE offers (item STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'offers', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TABLE sums (window_end TIMESTAMP(3), item STRING, total DECIMAL(38, 2))
WITH ('connector' = 'kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'csv');
INSERT INTO sums
SELECT window_end, item, SUM(price)
FROM TABLE(TUMBLE(TABLE offers, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
