-- The hour follows from the window's start.
-- expect: pull_project_above_window_aggregate pull_up_window_table_function split_local_global
SELECT window_start, window_end, HOUR(window_start) AS hour_of_day, item, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, HOUR(window_start), item;
