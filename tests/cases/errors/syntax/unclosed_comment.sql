SELECT item /* the item FROM bid;
