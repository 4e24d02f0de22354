-- Group windows in subqueries of expressions; Spark's plan joins their rows.
SELECT item, price FROM Bid
WHERE item IN (SELECT item FROM Bid GROUP BY item, TUMBLE(bidtime, INTERVAL '5' MINUTE) HAVING COUNT(*) > 10)
    OR price > (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM Bid GROUP BY HOP(bidtime, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)))
    OR price < (SELECT COUNT(*) AS n FROM Bid GROUP BY TUMBLE(bidtime, INTERVAL '1' DAY) ORDER BY n LIMIT 1);
