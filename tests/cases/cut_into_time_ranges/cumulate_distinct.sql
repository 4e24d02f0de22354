-- Changes of distinct values are counted from the start of a cycle, and a cycle is a range.
-- expect: cut_into_time_ranges
SELECT window_start, window_end, COUNT(DISTINCT item) AS items
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' DAY))
GROUP BY window_start, window_end;
