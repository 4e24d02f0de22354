-- Spark's histograms have no partials that tvfsql could merge.
-- expect-not: split_local_global
-- expect: pull_up_window_table_function
SELECT window_start, window_end, HISTOGRAM_NUMERIC(rating, 5) AS bins
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
