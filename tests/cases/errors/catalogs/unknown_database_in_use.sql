USE shop;
SELECT item FROM bid;
