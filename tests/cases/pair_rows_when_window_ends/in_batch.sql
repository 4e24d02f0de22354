-- expect: make_window_join
-- expect-not: pair_rows_when_window_ends
SELECT l.window_start, l.window_end, l.item, price, reserve
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
RIGHT JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND price >= reserve;
