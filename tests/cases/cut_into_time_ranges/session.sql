-- expect-not: cut_into_time_ranges
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
