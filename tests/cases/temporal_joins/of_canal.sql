-- A message of Canal has changes of several rows: their places in it tell their order too.
CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'kafka', 'topic' = 'rates', 'properties.bootstrap.servers' = 'k:9092', 'format' = 'canal-json');
SELECT b.item, r.rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
