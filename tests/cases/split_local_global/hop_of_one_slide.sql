-- Slide and size are the same: a TUMBLE by another name.
-- expect-not: split_local_global
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
