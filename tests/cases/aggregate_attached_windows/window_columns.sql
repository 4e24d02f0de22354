SET 'execution.runtime-mode' = 'streaming';
-- expect: aggregate_attached_windows
-- An aggregate reads a window column: rows get their windows first, by copies.
SELECT window_start, window_end, COUNT(DISTINCT window_time) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end
