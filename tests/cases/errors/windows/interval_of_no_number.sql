SELECT COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL 'ten' MINUTE))
GROUP BY window_start, window_end;
