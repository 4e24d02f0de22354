SET 'execution.runtime-mode' = 'streaming';
SELECT bid.item FROM bid LEFT JOIN auction
ON bid.quantity = auction.reserve AND bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR;
