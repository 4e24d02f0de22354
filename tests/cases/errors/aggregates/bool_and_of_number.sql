SELECT BOOL_AND(price) AS b FROM bid;
