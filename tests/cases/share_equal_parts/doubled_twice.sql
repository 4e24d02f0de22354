-- a CTE over a CTE that is read twice, read twice itself: one scan, not four
-- expect: share_equal_parts
WITH a AS (
  SELECT window_start, window_end, item, COUNT(*) AS n
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, item
), b AS (
  SELECT l.window_start, l.window_end, l.item, l.n + r.n AS n
  FROM a AS l JOIN a AS r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item <> r.item
)
SELECT l.window_start, l.item, l.n + r.n AS n
FROM b AS l JOIN b AS r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item <> r.item
