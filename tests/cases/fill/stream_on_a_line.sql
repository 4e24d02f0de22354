SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, COUNT(*) AS n, INTERPOLATE(AVG(rating)) AS mean
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE, FILL => INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;
