-- same-plan-as: named_windows/stream
SET 'execution.runtime-mode' = 'streaming';
SELECT 'minute' AS window_name, window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item
UNION ALL
SELECT 'hour' AS window_name, window_start, window_end, item, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
