-- expect-not: push_expand_below_window
-- Sessions are those of items in either set.
SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, GROUPING SETS ((item), ());
