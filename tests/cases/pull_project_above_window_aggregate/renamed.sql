-- Window columns under other names are still window columns.
-- expect: pull_project_above_window_aggregate pull_up_window_table_function split_local_global
SELECT s, e, k, COUNT(*) AS item, SUM(p) AS total
FROM (
    SELECT window_start AS s, window_end AS e, UPPER(item) AS k, price AS p
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
)
WHERE s > TIMESTAMP '2020-04-15 08:00:00' AND p > 10
GROUP BY s, e, k;
