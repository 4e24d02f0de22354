-- Spark's own: its tables are taken out all the same.
SELECT bid.item FROM (bid JOIN auction ON bid.item = auction.item) WHERE reserve < price;
