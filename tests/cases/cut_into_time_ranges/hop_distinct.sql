-- The number of distinct values is a running total of changes since the first row.
-- expect-not: cut_into_time_ranges
-- expect: split_local_global
SELECT window_start, window_end, COUNT(DISTINCT item) AS items
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
