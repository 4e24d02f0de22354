SELECT "item" FROM bid;
