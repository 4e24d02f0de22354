SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join aggregate_both_sides_of_join split_local_global
-- expect-not: pair_rows_when_window_ends
-- The conditions on the right side and of the join decide whether there is a partner.
SELECT l.window_end, l.item, l.n AS bids, l.top, r.n AS opened
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n, MAX(price) AS top
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    WHERE quantity > 0
    GROUP BY window_start, window_end, item
) l
LEFT JOIN (
    SELECT window_start, window_end, item, COUNT(*) AS n, MIN(reserve) AS least
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
    HAVING COUNT(*) > 1
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND l.top >= r.least;
