SELECT COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime, price), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
