SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.005' SECOND))
GROUP BY window_start, window_end;
