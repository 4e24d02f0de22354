SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT *, PROCTIME() AS pt FROM bid), DESCRIPTOR(pt), INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
