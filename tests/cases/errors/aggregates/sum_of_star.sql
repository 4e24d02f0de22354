SELECT SUM(*) AS total FROM bid;
