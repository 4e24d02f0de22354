SELECT $key FROM bid;
