-- Spark's percentile has no partials.
-- expect-not: split_local_global
-- expect: pull_up_window_table_function
SELECT window_start, window_end, PERCENTILE(rating, 0.5) AS middle, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
