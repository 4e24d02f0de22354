-- expect: push_project_below_window pull_up_window_table_function
SELECT window_start, window_end, UPPER(item) AS upper_item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, UPPER(item);
