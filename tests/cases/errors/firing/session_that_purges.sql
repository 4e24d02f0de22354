SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, item, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item EMIT WITH LATENESS INTERVAL '1' HOUR PURGE;
