SELECT `item FROM bid;
