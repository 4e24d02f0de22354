-- The condition over price and window_start differs from row to row of a group.
-- expect-not: pull_window_filter_above_aggregate pull_up_window_table_function
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00' OR price > 10
GROUP BY window_start, window_end, item;
