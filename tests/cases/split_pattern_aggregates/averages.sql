-- expect: split_pattern_aggregates
SELECT *
FROM bid MATCH_RECOGNIZE (
    PARTITION BY item
    ORDER BY bidtime
    MEASURES AVG(A.quantity) AS mean, COUNT(*) AS n, SUM(price) AS total
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (A+ B)
    DEFINE A AS A.price < 5
);
