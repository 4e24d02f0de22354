SELECT item,, price FROM bid;
