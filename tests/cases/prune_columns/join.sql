-- expect: prune_columns
SELECT bid.item, seller
FROM bid JOIN auction ON bid.item = auction.item;
