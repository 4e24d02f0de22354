-- expect-not: prune_columns
SELECT bidtime, rating, quantity, price, bidder, item FROM bid;
