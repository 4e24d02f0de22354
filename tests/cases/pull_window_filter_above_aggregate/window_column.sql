-- expect: pull_window_filter_above_aggregate pull_up_window_table_function split_local_global
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00' AND price > 10
GROUP BY window_start, window_end, item;
