-- no reader uses the sum; only one uses the highest price
-- expect: narrow_common_parts
WITH counts AS (
  SELECT window_start, window_end, item, COUNT(*) AS n, MAX(price) AS highest, SUM(quantity) AS quantity
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, item
)
SELECT c.window_start, c.item, c.highest, t.total
FROM counts AS c
JOIN (SELECT window_start, window_end, SUM(n) AS total FROM counts GROUP BY window_start, window_end) AS t
ON c.window_start = t.window_start AND c.window_end = t.window_end
