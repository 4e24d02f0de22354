-- expect: push_expand_below_window pull_window_filter_above_aggregate split_local_global
SELECT s, e, upper(i) AS name, SUM(p) AS total
FROM (
    SELECT window_start AS s, window_end AS e, item AS i, price AS p
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
    WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00'
)
GROUP BY s, e, ROLLUP (upper(i))
HAVING upper(i) <> 'A' OR GROUPING(upper(i)) = 1;
