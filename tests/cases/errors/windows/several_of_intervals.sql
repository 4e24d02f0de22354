SELECT COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE)
GROUP BY window_name, window_start, window_end;
