-- Sessions of the same length at the same time, of bids and of auctions: the windows of each side are its own.
SET 'execution.runtime-mode' = 'streaming';
SELECT b.item, b.window_start, b.price, a.seller
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) AS b
JOIN TABLE(SESSION(TABLE auction PARTITION BY item, DESCRIPTOR(opened), INTERVAL '10' MINUTE)) AS a
ON b.window_start = a.window_start AND b.window_end = a.window_end AND b.item = a.item;
