SET 'execution.runtime-mode' = 'streaming';
SELECT bid.item FROM bid JOIN auction
ON bid.item = auction.item AND bidtime BETWEEN opened AND closes AND bidtime BETWEEN closes - INTERVAL '1' HOUR AND closes;
