SELECT item) FROM bid;
