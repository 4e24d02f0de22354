CREATE VIEW both AS SELECT bid.item, auction.item FROM bid JOIN auction ON bid.item = auction.item;
SELECT item FROM both;
