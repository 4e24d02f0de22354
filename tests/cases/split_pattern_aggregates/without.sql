-- expect-not: split_pattern_aggregates
SELECT item, low
FROM bid MATCH_RECOGNIZE (
    PARTITION BY item
    ORDER BY bidtime
    MEASURES A.price AS low, B.price AS high
    PATTERN (A B)
    DEFINE A AS A.price < 5, B AS B.price > 5
) AS m
WHERE item = 'a';
