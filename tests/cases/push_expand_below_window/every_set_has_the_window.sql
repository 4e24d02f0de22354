-- expect: push_expand_below_window pull_up_window_table_function
-- same-plan-as: push_expand_below_window/tumble
SELECT window_start, window_end, item, bidder, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY GROUPING SETS ((window_start, window_end, item), (bidder, window_end, window_start), (window_start, window_end));
