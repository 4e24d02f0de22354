SET 'execution.runtime-mode' = 'streaming';
SELECT item, price FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY)) l
WHERE EXISTS (
    SELECT 1 FROM TABLE(CUMULATE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR, INTERVAL '1' DAY)) r
    WHERE l.window_start = r.window_start AND l.item = r.item
);
