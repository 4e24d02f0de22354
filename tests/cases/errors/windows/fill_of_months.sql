SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MONTH, FILL => INTERVAL '90' DAY))
GROUP BY window_start, window_end;
