SELECT m.n, m.mean
FROM (SELECT * FROM bid WHERE quantity > 1) MATCH_RECOGNIZE (
    ORDER BY bidtime
    MEASURES COUNT(*) AS n, AVG(price) AS mean
    AFTER MATCH SKIP TO FIRST C
    PATTERN (A? B*? C{1,3}?)
    DEFINE A AS AVG(A.price) > 3, C AS C.price - LAST(B.price) > 1
) AS m (n, mean)
JOIN auction ON m.n = auction.id;
