-- Columns without an alias are called as in Flink.
SELECT window_start, COUNT(*), SUM(price), item
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
