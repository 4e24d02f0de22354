SET 'execution.runtime-mode' = 'streaming';
SELECT l.item, price, reserve
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
LEFT JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item <> JSON_VALUE(r.item, '$.name');
