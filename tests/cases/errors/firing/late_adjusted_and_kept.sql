SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
SET 'tvfsql.late-output' = 'bid';
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
