-- RAND() has another value each time
-- expect-not: share_equal_parts
WITH sample AS (
  SELECT item, COUNT(*) AS n FROM bid WHERE RAND() < 0.5 GROUP BY item
)
SELECT a.item, a.n, b.n AS other FROM sample AS a JOIN sample AS b ON a.item = b.item
