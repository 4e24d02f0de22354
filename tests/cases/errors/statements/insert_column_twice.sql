INSERT INTO totals (item, item) SELECT item, item FROM bid;
