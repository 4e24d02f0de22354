SELECT COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, bidtime, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
