-- An INT and a BIGINT: a condition over the first may overflow where one over both together does not.
-- expect-not: push_filter_below_set_operation
SELECT n FROM (SELECT quantity AS n FROM bid UNION ALL SELECT seller FROM auction) WHERE n * 1000000000 > 1;
