-- one reader needs all columns
-- expect: share_equal_parts
-- expect-not: narrow_common_parts
WITH counts AS (
  SELECT item, COUNT(*) AS n, MAX(price) AS highest FROM bid GROUP BY item
)
SELECT * FROM counts UNION ALL (SELECT * FROM counts EXCEPT SELECT item, n, n AS highest FROM counts)
