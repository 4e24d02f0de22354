-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, PERCENTILE(price, 0.95) AS p95, MODE(item) AS usual, MAX_BY(item, price) AS dearest, MAX_BY(item, price, 3) AS three,
    COUNT_IF(price > 3) AS dear, CORR(price, rating) AS alike
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
