INSERT INTO totals (itm, total) SELECT item, price FROM bid;
