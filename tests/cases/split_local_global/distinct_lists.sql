-- DISTINCT values of lists go by the time at which they come first.
-- expect: split_local_global
SELECT window_start, window_end, LISTAGG(DISTINCT item) AS items, STDDEV_POP(DISTINCT rating) AS spread
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
