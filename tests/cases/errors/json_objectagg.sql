SELECT window_end, JSON_OBJECTAGG(KEY item VALUE price)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
