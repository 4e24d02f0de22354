-- expect-not: push_unnest_below_window pull_up_window_table_function
-- Rows without elements extend sessions.
SELECT window_start, window_end, name, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
CROSS JOIN UNNEST(ARRAY[item, 'all']) AS t (name)
GROUP BY window_start, window_end, name;
