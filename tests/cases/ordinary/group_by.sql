SELECT item, COUNT(*) AS n, AVG(price) AS mean FROM bid GROUP BY item ORDER BY n DESC;
