-- A cast window_start is not a window column.
-- expect-not: pull_up_window_table_function
SELECT CAST(window_start AS DATE) AS day, bidder, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY CAST(window_start AS DATE), bidder;
