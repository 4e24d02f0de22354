SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bid.bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
