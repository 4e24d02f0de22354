-- Rows of several windows fall together: an ordinary GROUP BY.
-- expect-not: pull_up_window_table_function
SELECT window_start, SUM(price) AS total
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start;
