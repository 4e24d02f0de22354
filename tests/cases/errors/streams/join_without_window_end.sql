SET 'execution.runtime-mode' = 'streaming';
SELECT l.item, price, reserve
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY)) l
JOIN TABLE(CUMULATE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR, INTERVAL '1' DAY)) r
ON l.window_start = r.window_start AND l.item = r.item;
