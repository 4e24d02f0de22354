-- The one is below the aggregate, the other above it.
-- expect-not: merge_filters
SELECT item, COUNT(*) AS n FROM bid WHERE price > 100 GROUP BY item HAVING COUNT(*) > 1;
