SET 'execution.runtime-mode' = 'streaming';
-- Two window operators in one query: each observes its counters under a name of its own.
SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end
UNION ALL
SELECT window_end, COUNT(*)
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
