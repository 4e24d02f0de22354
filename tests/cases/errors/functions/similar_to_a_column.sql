SELECT item SIMILAR TO item FROM bid;
