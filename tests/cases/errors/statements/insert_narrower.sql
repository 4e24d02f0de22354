INSERT INTO screen SELECT item, SUM(price) FROM bid GROUP BY item;
