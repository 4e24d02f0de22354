SELECT item
FROM bid
WHERE price = = 3;
