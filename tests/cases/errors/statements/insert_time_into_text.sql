INSERT INTO screen SELECT bidtime, bidder FROM bid;
