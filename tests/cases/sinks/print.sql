INSERT INTO screen SELECT item, COUNT(*) FROM bid GROUP BY item;
