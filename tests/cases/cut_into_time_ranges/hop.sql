-- expect: cut_into_time_ranges
SELECT window_start, window_end, COUNT(*) AS n, MAX(price) AS most
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
