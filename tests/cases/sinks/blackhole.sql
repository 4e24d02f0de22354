INSERT INTO nowhere SELECT item, COUNT(*) FROM bid GROUP BY item;
