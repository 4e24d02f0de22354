SET 'execution.runtime-mode' = 'streaming';
-- expect: push_filter_below_join
-- Control rows and rows without a match pass the join, because they carry watermarks.
CREATE TABLE orders (item STRING, price INT, rowtime TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR rowtime AS rowtime)
  WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE kinds (item STRING, kind STRING, hidden BOOLEAN)
  WITH ('connector' = 'filesystem', 'path' = 'kinds', 'format' = 'json');
SELECT kind, window_start, SUM(price) AS total
FROM TABLE(TUMBLE((
  SELECT o.*, kind FROM orders AS o JOIN kinds FOR SYSTEM_TIME AS OF o.proc AS k ON o.item = k.item
  WHERE NOT hidden AND price > 0
), DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
GROUP BY kind, window_start, window_end;
