SELECT UPER(item) FROM bid;
