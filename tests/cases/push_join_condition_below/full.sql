-- expect-not: push_join_condition_below
SELECT bid.item, price, reserve
FROM bid FULL JOIN auction ON bid.item = auction.item AND seller = 7 AND price > 5;
