SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE rates (item STRING, rate DECIMAL(10, 4), since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since - INTERVAL '1' MINUTE)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
INSERT INTO totals
SELECT window_start, item, SUM(worth)
FROM TABLE(TUMBLE(
    (SELECT b.item, price * rate AS worth, bidtime
     FROM bid AS b LEFT JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item AND rate > 1),
    DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
