-- The windows of both sides are those of one day, so both scans read one day and an hour; a condition on a key, and one on
-- the start of windows that need not be equal, concern one side.
-- expect: push_filter_below_join push_window_bounds_below_window make_window_join
WITH prices AS (
  SELECT window_start, window_end, item, MAX(price) AS highest
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, item
), opened AS (
  SELECT window_start, window_end, item, MIN(reserve) AS least
  FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, item
)
SELECT p.window_end, p.item, highest, least
FROM prices AS p LEFT JOIN opened AS o ON p.window_end = o.window_end AND p.item = o.item
WHERE p.window_end > TIMESTAMP '2024-01-02 00:00:00' AND p.window_end <= TIMESTAMP '2024-01-03 00:00:00'
  AND p.window_start < TIMESTAMP '2024-01-02 12:00:00' AND p.item = 'pen'
