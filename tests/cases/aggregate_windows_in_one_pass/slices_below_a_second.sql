-- Without keys they are merged by time ranges, in parallel.
-- expect: cut_into_time_ranges
-- expect-not: aggregate_windows_in_one_pass
SELECT window_name, window_start, window_end, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    HOP(INTERVAL '0.1' SECOND, INTERVAL '1' HOUR) AS hour,
    HOP(INTERVAL '0.1' SECOND, INTERVAL '1' MINUTE) AS minute
))
GROUP BY window_name, window_start, window_end;
