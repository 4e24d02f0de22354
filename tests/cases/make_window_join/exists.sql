-- expect: make_window_join
SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
WHERE price > 10
AND EXISTS (
    SELECT 1 FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
    WHERE l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND seller > 7
        AND reserve < price
)
AND NOT EXISTS (
    SELECT * FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) auction
    WHERE window_end = l.window_end AND window_start = l.window_start AND seller = bidder
);
