SELECT SUM(price) WITHIN GROUP (ORDER BY item) AS total FROM bid;
