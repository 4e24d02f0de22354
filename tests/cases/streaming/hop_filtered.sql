SET 'execution.runtime-mode' = 'streaming';
-- expect: split_local_global
-- Rows that the filter leaves out still bring their watermarks.
SELECT window_end, AVG(price) AS mean, STDDEV_POP(quantity) FILTER (WHERE quantity > 1) AS spread
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
WHERE item <> 'none'
GROUP BY window_start, window_end;
