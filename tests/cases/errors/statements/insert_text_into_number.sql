INSERT INTO screen SELECT item, UPPER(item) AS n FROM bid;
