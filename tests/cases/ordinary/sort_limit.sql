SELECT item, price FROM bid ORDER BY price DESC, UPPER(item) LIMIT 3;
