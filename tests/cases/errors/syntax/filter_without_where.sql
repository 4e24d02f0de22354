-- sqlglot does without WHERE.
SELECT COUNT(*) FILTER (price > 1) AS n FROM bid;
