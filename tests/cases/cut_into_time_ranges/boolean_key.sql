-- A BOOLEAN has three values at most.
-- expect: cut_into_time_ranges
SELECT window_start, window_end, dear, COUNT(*) AS n
FROM TABLE(HOP(TABLE (SELECT bidtime, price > 3 AS dear FROM bid), DESCRIPTOR(bidtime), INTERVAL '0.1' SECOND, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, dear;
