-- expect: complete_window_keys
SELECT window_time, MAX(price) AS top
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_time;
