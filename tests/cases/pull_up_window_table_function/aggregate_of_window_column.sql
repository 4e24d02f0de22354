-- expect-not: pull_up_window_table_function
SELECT window_start, window_end, MAX(window_time) AS last_time
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
