-- expect-not: pull_project_above_window_aggregate pull_up_window_table_function
SELECT s, COUNT(*) AS n
FROM (
    SELECT window_start AS s, item
    FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
)
GROUP BY s;
