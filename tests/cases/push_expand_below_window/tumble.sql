-- expect: push_expand_below_window pull_up_window_table_function
SELECT window_start, window_end, item, bidder, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, GROUPING SETS ((item), (bidder), ());
