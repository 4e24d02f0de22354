SELECT COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute, TUMBLE(INTERVAL '1' HOUR))
GROUP BY window_name, window_start, window_end;
