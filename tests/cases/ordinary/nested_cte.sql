SELECT item FROM bid
WHERE price > (WITH dear AS (SELECT price AS p FROM bid WHERE price > 10) SELECT MIN(p) FROM dear);
