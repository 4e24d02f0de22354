SET 'execution.runtime-mode' = 'streaming';
SELECT bid.item FROM bid JOIN auction ON bid.item = auction.item AND bidtime >= opened;
