CREATE VIEW per_minute(started, ended, n) AS
SELECT window_start, window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
SELECT started, n FROM per_minute WHERE n > 3;
