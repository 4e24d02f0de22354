-- conditions have moved into each reading, so these are different rows
-- expect-not: share_equal_parts
WITH counts AS (
  SELECT window_start, window_end, item, COUNT(*) AS n
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, item
)
SELECT a.window_start, a.n, b.n AS other
FROM (SELECT * FROM counts WHERE item = 'pen') AS a
JOIN (SELECT * FROM counts WHERE item = 'ink') AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end
