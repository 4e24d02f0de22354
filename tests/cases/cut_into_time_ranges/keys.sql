-- Keys can be many, and then all cores are busy without copies of slices.
-- expect-not: cut_into_time_ranges
-- expect: split_local_global
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
