-- expect: push_project_below_window pull_window_filter_above_aggregate split_local_global
SELECT window_start, window_end, UPPER(item) AS item, SUM(price * 2) AS doubled
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE window_start > TIMESTAMP '2020-04-15 08:00:00'
GROUP BY window_start, window_end, UPPER(item);
