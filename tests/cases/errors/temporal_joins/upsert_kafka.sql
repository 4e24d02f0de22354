CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'upsert-kafka', 'topic' = 'rates', 'properties.bootstrap.servers' = 'k:9092', 'key.format' = 'json', 'value.format' = 'json');
SELECT rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
