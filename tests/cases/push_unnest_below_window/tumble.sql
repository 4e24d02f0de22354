-- expect: push_unnest_below_window pull_up_window_table_function
SELECT window_start, window_end, name, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
CROSS JOIN UNNEST(ARRAY[item, 'all']) AS t (name)
GROUP BY window_start, window_end, name;
