-- expect-not: push_unnest_below_window
SELECT s, e, window_end AS name, COUNT(*) AS n
FROM (
    SELECT window_start AS s, window_end AS e, item
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
)
CROSS JOIN UNNEST(ARRAY[item, 'all']) AS t (window_end)
GROUP BY s, e, window_end;
