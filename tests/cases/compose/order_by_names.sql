-- In ORDER BY the name of an item comes before that of a column, also inside expressions.
SELECT price AS p, -price AS price FROM bid ORDER BY price;
SELECT item AS name, MAX(price) AS item FROM bid GROUP BY item ORDER BY item LIMIT 3;
SELECT item, SUM(price) AS Total, COUNT(*) AS n FROM bid GROUP BY item ORDER BY total / n, total;
SELECT item, -price AS PRICE FROM bid ORDER BY price;
SELECT item, MIN(price) AS price FROM bid GROUP BY item ORDER BY MAX(price);
