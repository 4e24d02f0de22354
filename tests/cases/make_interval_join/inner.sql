-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT bid.item, price, reserve, bidtime
FROM bid JOIN auction
ON bid.item = auction.item AND bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR AND price > reserve;
