-- The size is not a multiple of the slide: slices are as wide as their greatest common divisor.
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '4' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
