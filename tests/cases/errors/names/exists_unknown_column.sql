SELECT item, price FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
WHERE EXISTS (
    SELECT 1 FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
    WHERE l.window_start = r.window_start AND l.window_end = r.window_end AND l.iten = r.item
);
