SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, seller, COUNT(*) AS bids
FROM TABLE(TUMBLE(
    (SELECT seller, bidtime FROM bid JOIN auction
     ON bid.item = auction.item AND bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR),
    DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, seller;
