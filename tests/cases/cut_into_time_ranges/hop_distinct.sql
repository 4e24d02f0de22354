-- Slices have lists of their distinct values, so any range of them can be counted.
-- expect: cut_into_time_ranges
-- expect: split_local_global
SELECT window_start, window_end, COUNT(DISTINCT item) AS items
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
