-- On streams the rows of a window come together, so they are ranked in the micro-batch that brings them.
EXPLAIN PHYSICAL SELECT item, window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(price) DESC) <= 3;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(price) DESC) <= 3;
