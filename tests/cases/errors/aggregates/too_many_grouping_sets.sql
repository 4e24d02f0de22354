SELECT COUNT(*) AS n FROM bid GROUP BY CUBE (item, bidder, price), CUBE (quantity, rating, bidtime), CUBE (item, bidder, price), CUBE (quantity, rating, bidtime, item);
