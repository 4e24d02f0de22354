SELECT frobnicate_it(item) FROM bid;
