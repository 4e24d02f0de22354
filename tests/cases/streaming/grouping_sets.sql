-- expect: push_expand_below_window split_local_global
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, GROUPING(item) AS all_items, SUM(price) AS total, COUNT(item) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
WHERE quantity > 1
GROUP BY window_start, window_end, ROLLUP (item);
