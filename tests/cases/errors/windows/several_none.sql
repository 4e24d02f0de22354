SELECT COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime))
GROUP BY window_name, window_start, window_end;
