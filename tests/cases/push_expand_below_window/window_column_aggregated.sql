-- expect: push_expand_below_window
-- expect-not: pull_up_window_table_function
SELECT window_start, window_end, item, MAX(window_time) AS last
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, ROLLUP (item);
