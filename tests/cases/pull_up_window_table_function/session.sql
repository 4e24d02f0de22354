-- expect: pull_up_window_table_function split_local_global
SELECT item, window_start, window_end, SUM(price) AS total, COUNT(DISTINCT bidder) AS bidders, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE item <> 'x'
GROUP BY item, window_start, window_end;
