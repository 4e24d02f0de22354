SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'total';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
