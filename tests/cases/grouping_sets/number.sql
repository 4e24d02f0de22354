-- 1 is a constant, so the second set is the total; as a position it would be item again.
SELECT item, COUNT(*) AS bids
FROM bid
GROUP BY GROUPING SETS ((item), (1));
