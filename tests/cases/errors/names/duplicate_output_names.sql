SELECT item AS a, price AS a FROM bid;
