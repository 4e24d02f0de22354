SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
WHERE quantity > MINUTE(window_start)
GROUP BY window_start, window_end, ROLLUP (item);
