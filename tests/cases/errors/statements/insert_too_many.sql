INSERT INTO screen SELECT item, COUNT(*), MAX(price) FROM bid GROUP BY item;
