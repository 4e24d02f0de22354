-- Floats are added from the smallest up, so windows have lists of them.
-- expect: split_local_global
SELECT window_start, window_end, SUM(DISTINCT rating) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
