-- Slices of a second are not so many that one task takes long.
-- expect-not: cut_into_time_ranges
-- expect: split_local_global
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
