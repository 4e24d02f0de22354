SELECT window_start, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
