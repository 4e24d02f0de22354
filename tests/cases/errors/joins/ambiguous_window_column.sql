SELECT window_start
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) AS a
JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE)) AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end;
