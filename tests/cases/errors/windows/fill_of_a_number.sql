SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, FILL => 0))
GROUP BY window_start, window_end;
