SET 'execution.runtime-mode' = 'streaming';
SELECT l.item, price, reserve
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '2' HOUR)) r
ON l.window_start = r.window_start AND l.item = r.item;
