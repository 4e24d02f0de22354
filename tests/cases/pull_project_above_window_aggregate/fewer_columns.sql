-- expect: pull_project_above_window_aggregate pull_up_window_table_function split_local_global
SELECT window_start, window_end, LAST_VALUE(price) AS closing
FROM (
    SELECT bidtime, price, window_end, window_start
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
)
GROUP BY window_start, window_end;
