SELECT item FROM my_catalog.bid;
