-- Aggregate, rank and limit in one SELECT.
-- expect: make_window_top_n
SELECT window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
HAVING COUNT(*) > 1
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total * 2 DESC) = 2
ORDER BY window_end;
