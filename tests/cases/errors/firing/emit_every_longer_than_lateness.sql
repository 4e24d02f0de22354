SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item EMIT EVERY INTERVAL '10' MINUTE WITH LATENESS INTERVAL '1' MINUTE;
