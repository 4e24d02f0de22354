SELECT COUNT(*)
FROM TABLE(TUMBLE(bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
