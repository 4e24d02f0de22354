SELECT item FROM bid JOIN auction ON bid.item = auction.item;
