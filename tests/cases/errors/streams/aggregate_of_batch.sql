SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
