-- expect: aggregate_distinct_windows
-- expect: pull_up_window_table_function
SELECT DISTINCT window_start, window_end, UPPER(item) AS item
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
WHERE price > 1;
