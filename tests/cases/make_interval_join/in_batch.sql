-- expect-not: make_interval_join
SELECT bid.item, price, reserve
FROM bid LEFT JOIN auction ON bid.item = auction.item AND bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR;
