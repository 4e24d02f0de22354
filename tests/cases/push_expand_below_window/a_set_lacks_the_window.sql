-- expect-not: push_expand_below_window pull_up_window_table_function
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY ROLLUP (window_start, window_end, item);
