SELECT COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS a, HOPS(INTERVAL '1' HOUR) AS b)
GROUP BY window_name, window_start, window_end;
