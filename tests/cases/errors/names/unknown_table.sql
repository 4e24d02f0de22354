SELECT item FROM bids;
