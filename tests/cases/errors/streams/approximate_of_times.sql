SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, APPROX_PERCENTILE(bidtime, 0.5) AS a
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
