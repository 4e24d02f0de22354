-- expect-not: push_expand_below_window
SELECT window_start, window_end, bidtime - window_start AS since, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, ROLLUP (bidtime - window_start);
