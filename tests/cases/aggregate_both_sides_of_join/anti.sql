SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join aggregate_both_sides_of_join split_local_global
-- expect-not: pair_rows_when_window_ends
SELECT l.window_end, l.item, l.n
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) l
WHERE NOT EXISTS (
    SELECT 1 FROM (
        SELECT window_start, window_end, item, seller
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item, seller
    ) r
    WHERE r.window_start = l.window_start AND r.window_end = l.window_end AND r.item = l.item
);
