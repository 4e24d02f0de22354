-- NULL if no row is equal, but price or a row is NULL; in WHERE, NULL and FALSE mean the same
SELECT item, price IN (SELECT price FROM bid WHERE price > 2) AS found FROM bid WHERE price IN (SELECT price FROM bid);
