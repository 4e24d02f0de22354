-- Rows of other types: the type in which they meet is left to Spark, so a condition may see another value.
-- expect-not: push_filter_below_set_operation
SELECT n FROM (SELECT ROW(quantity) AS n FROM bid UNION ALL SELECT ROW(item) FROM auction) WHERE n IS NOT NULL;
