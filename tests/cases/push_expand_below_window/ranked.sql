-- expect: push_expand_below_window make_window_top_n
SELECT window_start, window_end, item, GROUPING(item) AS g, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, ROLLUP (item)
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end, GROUPING(item) ORDER BY SUM(price) DESC) <= 2;
