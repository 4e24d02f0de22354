SELECT COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime), HOP(INTERVAL '1' HOUR) AS a)
GROUP BY window_name, window_start, window_end;
