SELECT UPPER(item) AS name, price, COUNT(*) AS n
FROM bid
GROUP BY GROUPING SETS ((UPPER(item), price), (UPPER(item)));
