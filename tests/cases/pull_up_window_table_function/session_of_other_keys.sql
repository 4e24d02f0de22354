-- expect-not: pull_up_window_table_function
-- Sessions of items, counted per bidder: the sessions are not those of the groups.
SELECT bidder, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY bidder, window_start, window_end;
