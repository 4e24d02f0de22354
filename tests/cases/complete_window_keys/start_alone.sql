-- The start tells the window: on streams its rows are final when the window ends.
-- expect: complete_window_keys
-- expect: pull_up_window_table_function
SELECT window_start, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start;
