SET 'execution.runtime-mode' = 'streaming';
SELECT bid.item FROM bid LEFT JOIN auction
ON bid.item = auction.item AND bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR AND price > reserve;
