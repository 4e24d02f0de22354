-- expect-not: push_filter_below_join
SELECT bid.item, price, reserve
FROM bid LEFT JOIN auction ON bid.item = auction.item
WHERE reserve IS NULL;
