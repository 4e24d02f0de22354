SELECT (price > 1) = 'true' FROM bid;
