SELECT CAST(window_start AS DATE) AS d, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR))
GROUP BY window_start, window_end, CAST(window_start AS DATE);
