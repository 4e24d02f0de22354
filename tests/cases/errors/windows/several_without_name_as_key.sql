SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n
FROM WINDOWS(TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS a, TUMBLE(INTERVAL '1' HOUR) AS b)
GROUP BY window_start, window_end;
