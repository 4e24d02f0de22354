-- expect-not: merge_projects merge_filters push_filter_below_project push_filter_below_aggregate push_filter_below_window
-- expect-not: push_project_below_window drop_idle_project pull_project_above_window_aggregate
-- expect-not: pull_window_filter_above_aggregate pull_up_window_table_function prune_columns split_local_global
-- expect-not: push_window_bounds_below_window
SET 'tvfsql.rules.disabled' = 'merge_projects, merge_filters, push_filter_below_project, push_filter_below_aggregate,
    push_filter_below_window, push_window_bounds_below_window, push_project_below_window, drop_idle_project,
    pull_project_above_window_aggregate, pull_window_filter_above_aggregate, pull_up_window_table_function, prune_columns, split_local_global';
SELECT window_start, window_end, UPPER(item) AS upper_item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE price > 1 AND window_start > TIMESTAMP '2020-04-15 08:00:00'
GROUP BY window_start, window_end, UPPER(item);
