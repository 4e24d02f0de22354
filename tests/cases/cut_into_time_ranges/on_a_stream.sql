-- expect-not: cut_into_time_ranges
-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
