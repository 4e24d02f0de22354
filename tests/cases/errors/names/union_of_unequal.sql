SELECT item, price FROM bid UNION ALL SELECT item FROM auction;
