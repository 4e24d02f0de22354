SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1 hour 30 minutes')) GROUP BY window_start, window_end;
