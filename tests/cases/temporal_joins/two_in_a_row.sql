SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE rates (item STRING, rate DECIMAL(10, 4), since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since - INTERVAL '1' MINUTE)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
CREATE TABLE sellers (id BIGINT, name STRING, since TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'filesystem', 'path' = 'sellers', 'format' = 'json');
SELECT bidder, name, price * rate AS worth
FROM bid JOIN rates FOR SYSTEM_TIME AS OF bidtime AS r ON bid.item = r.item
LEFT JOIN sellers FOR SYSTEM_TIME AS OF bidtime AS s ON bidder = s.id;
