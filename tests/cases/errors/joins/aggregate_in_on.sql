SELECT bid.item FROM bid JOIN auction ON bid.item = auction.item AND COUNT(*) > 1;
