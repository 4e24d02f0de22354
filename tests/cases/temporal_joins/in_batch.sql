-- The version is chosen first: one that does not meet a further condition is not a match of a LEFT JOIN.
CREATE TABLE rates (item STRING, lot INT, rate DECIMAL(10, 4), text STRING, since AS TO_TIMESTAMP(text),
    PRIMARY KEY (item, lot) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT b.item, price * rate AS worth, since
FROM bid AS b LEFT JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r
ON b.item = r.item AND r.lot = b.quantity AND r.rate > 1 AND b.price > r.rate;
