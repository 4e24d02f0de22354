INSERT INTO screen SELECT item, bidtime FROM bid;
