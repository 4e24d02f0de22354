-- The time of each change is that of Debezium's message. A view may choose columns.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE rates (item STRING, rate INT, more STRING, since TIMESTAMP(3) METADATA FROM 'value.source.timestamp' VIRTUAL, PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since - INTERVAL '5' SECOND)
  WITH ('connector' = 'kafka', 'topic' = 'rates', 'properties.bootstrap.servers' = 'k:9092', 'format' = 'debezium-json');
CREATE VIEW current_rates AS SELECT item AS thing, rate, since FROM rates;
SELECT b.item, r.rate FROM bid AS b LEFT JOIN current_rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.thing;
