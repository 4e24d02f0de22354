SELECT SUM(item) AS total FROM bid;
