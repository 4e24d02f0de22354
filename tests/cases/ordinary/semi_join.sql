SELECT item FROM bid LEFT SEMI JOIN auction ON bid.item = auction.item;
