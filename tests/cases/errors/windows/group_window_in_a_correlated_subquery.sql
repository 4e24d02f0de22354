SELECT item FROM Bid b WHERE price > (SELECT COUNT(*) FROM Bid c WHERE c.item = b.item GROUP BY TUMBLE(bidtime, INTERVAL '5' MINUTE));
