-- expect: make_window_join
-- Windows of the left side of the second join may be NULL, so that one is not a window join.
SELECT a.item, b.item AS other, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) a
RIGHT JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) b
ON a.window_start = b.window_start AND a.window_end = b.window_end
JOIN TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) c
ON a.window_start = c.window_start AND a.window_end = c.window_end AND UPPER(a.item) = c.item
GROUP BY a.item, b.item;
