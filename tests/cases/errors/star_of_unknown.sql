SELECT b.* FROM bid;
