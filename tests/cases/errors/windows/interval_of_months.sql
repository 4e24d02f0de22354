SELECT window_start, COUNT(*)
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MONTH, INTERVAL '1' YEAR))
GROUP BY window_start, window_end
