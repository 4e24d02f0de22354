SELECT bid.item FROM bid LEFT JOIN auction;
