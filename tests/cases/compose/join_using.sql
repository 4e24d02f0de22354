SELECT item, bid.price, auction.reserve FROM bid JOIN auction USING (item);
