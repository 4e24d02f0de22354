-- A condition over an aggregate stays above it.
-- expect-not: push_filter_below_project
SELECT item, COUNT(*) AS n FROM bid GROUP BY item HAVING COUNT(*) > 1;
