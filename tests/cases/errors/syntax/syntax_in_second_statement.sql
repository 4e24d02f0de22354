SELECT item FROM bid;
SELECT item price quantity FROM bid;
