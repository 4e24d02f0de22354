SELECT item, price FROM bid
WHERE EXISTS (SELECT 1 FROM auction WHERE auction.item = bid.item AND reserve < price);
