SELECT COUNT(item, price) AS n FROM bid;
