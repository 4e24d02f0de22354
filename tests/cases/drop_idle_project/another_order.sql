-- expect-not: drop_idle_project
SELECT bidder, item, price, quantity, rating, bidtime FROM bid;
