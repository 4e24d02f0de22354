-- expect: rank_instead_of_self_join
SELECT b.window_start, b.item, b.price
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) b
JOIN (SELECT window_start, window_end, MAX(price) AS highest FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end) h
ON b.window_start = h.window_start AND b.window_end = h.window_end AND b.price = h.highest;
