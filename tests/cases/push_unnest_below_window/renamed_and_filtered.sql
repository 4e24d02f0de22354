-- expect: push_unnest_below_window split_local_global
-- Rows without elements stay, because the join is outer.
SELECT s, e, letter, at, COUNT(*) AS n, MAX(p) AS highest
FROM (
    SELECT window_start AS s, window_end AS e, item AS i, price AS p
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
    WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00'
)
LEFT JOIN UNNEST(SPLIT(i, '')) WITH ORDINALITY AS t (letter, at) ON TRUE
GROUP BY s, e, letter, at;
