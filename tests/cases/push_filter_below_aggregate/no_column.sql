-- A global aggregate has one row, even of no rows.
-- expect-not: push_filter_below_aggregate
SELECT COUNT(*) AS n FROM bid HAVING 1 = 0;
