-- Without the rule each row is copied into its windows and grouped.
-- expect-not: pull_up_window_table_function split_local_global
SET 'tvfsql.rules.disabled' = 'pull_up_window_table_function';
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
