-- How far into its window a row lies: rows of one window differ.
-- expect-not: pull_project_above_window_aggregate pull_up_window_table_function
SELECT window_start, window_end, bidtime > window_start + INTERVAL '1' MINUTE AS late, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, bidtime > window_start + INTERVAL '1' MINUTE;
