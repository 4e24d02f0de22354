-- expect-not: make_window_join
SELECT item, price FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
WHERE EXISTS (
    SELECT 1 FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
    WHERE l.window_start = r.window_start AND l.item = r.item
) OR price > 5;
SELECT item, price FROM bid l WHERE item IN (SELECT item FROM auction r WHERE r.opened = l.bidtime) AND price > 5;
