-- Flink leaves the window function apart here; a filter over window columns that are keys goes above the aggregate.
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
WHERE window_start >= TIMESTAMP '2024-01-01 00:00:00'
GROUP BY item, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
WHERE window_start >= TIMESTAMP '2024-01-01 00:00:00'
GROUP BY item, window_start, window_end;
