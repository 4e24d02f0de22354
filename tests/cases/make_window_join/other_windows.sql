-- expect: make_window_join
-- Rows match if their windows end together; the starts are a condition like others.
SELECT l.window_start, price, reserve
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
FULL JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR, INTERVAL '5' MINUTE)) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
