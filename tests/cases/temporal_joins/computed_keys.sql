SET 'execution.runtime-mode' = 'streaming';
-- Rows are distributed by columns, so an expression becomes one, and both integers get the larger type.
CREATE TABLE rates (item STRING, lot BIGINT, part INT, rate INT, since TIMESTAMP(3), PRIMARY KEY (item, lot, part) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT b.item, rate FROM bid AS b LEFT JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r
ON r.item = LOWER(b.item) AND b.quantity = r.lot AND r.part = b.bidder AND b.item <> r.item;
