-- The bound of the windows of WHERE is one of the windows of NOT EXISTS too.
-- expect: push_filter_below_join push_window_bounds_below_window make_window_join
WITH prices AS (
  SELECT window_start, window_end, item, MAX(price) AS highest
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item
), opened AS (
  SELECT window_start, window_end, item, MIN(reserve) AS least
  FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item
)
SELECT window_end, item, highest FROM prices AS p
WHERE window_end > TIMESTAMP '2024-01-02 00:00:00' AND highest > 10 AND NOT EXISTS (
  SELECT * FROM opened AS o WHERE o.window_start = p.window_start AND o.window_end = p.window_end AND o.item = p.item
)
