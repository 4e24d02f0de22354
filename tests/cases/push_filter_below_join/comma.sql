-- A join in WHERE, of the windows that the sides have.
-- expect: push_filter_below_join make_window_join
SELECT l.window_start, l.item, price, reserve
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l,
    TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
WHERE l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item
    AND price > 5 AND seller = 7 AND RAND() < 0.5;
