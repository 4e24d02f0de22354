SELECT item, bidtime + 5 AS later FROM bid;
