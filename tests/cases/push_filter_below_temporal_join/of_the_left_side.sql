-- expect: push_filter_below_temporal_join
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE rates (item STRING, rate DECIMAL(10, 4), since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT bidder, rate FROM bid AS b LEFT JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item AND rate > 1
WHERE price > 5 AND rate < price;
