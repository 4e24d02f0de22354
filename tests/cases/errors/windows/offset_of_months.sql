SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' DAY, INTERVAL '1' MONTH))
GROUP BY window_start, window_end
