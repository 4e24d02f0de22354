SELECT window_name, COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR) AS a, TUMBLE(INTERVAL '1' HOUR) AS b)
GROUP BY window_name, window_start, window_end;
