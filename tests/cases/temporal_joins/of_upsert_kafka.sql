-- Each message is a version, and one without a value ends it: its columns are those of the key, and its metadata.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP(3) METADATA FROM 'timestamp', PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'upsert-kafka', 'topic' = 'rates', 'properties.bootstrap.servers' = 'k:9092', 'key.format' = 'json', 'value.format' = 'json');
SELECT rate FROM bid AS b LEFT JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
