SELECT COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10'))
GROUP BY window_start, window_end;
