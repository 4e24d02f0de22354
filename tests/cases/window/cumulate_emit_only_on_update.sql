SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE, INTERVAL '0' MINUTE, TRUE))
GROUP BY window_start, window_end, item;
