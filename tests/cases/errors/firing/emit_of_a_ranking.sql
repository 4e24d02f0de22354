SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place FROM (SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item)) WHERE place = 1 EMIT WITH LATENESS INTERVAL '1' HOUR;
