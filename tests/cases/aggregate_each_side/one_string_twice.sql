-- Groups named 'b' have rows of both sides.
-- expect-not: aggregate_each_side
SELECT kind, COUNT(*) AS n
FROM (
    SELECT CASE WHEN price > 1 THEN 'a' ELSE 'b' END AS kind FROM bid
    UNION ALL
    SELECT 'b' FROM bid
)
GROUP BY kind;
