SELECT item, MODE(price) AS usual
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end;
