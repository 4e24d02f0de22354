SELECT item, price * 2 AS twice FROM bid WHERE price BETWEEN 1 AND 10 OR item LIKE 'a%' OR item IN ('x', 'y');
