SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE (SELECT bidtime, COUNT(*) AS n FROM bid GROUP BY bidtime), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
