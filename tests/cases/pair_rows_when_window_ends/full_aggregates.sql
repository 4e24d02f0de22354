SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends split_local_global
-- A row without an item matches no other, so it must not meet those of the other side in one group.
SELECT COALESCE(l.window_end, r.window_end) AS ends, l.item, l.n AS bids, r.n AS opened
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) l
FULL JOIN (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND l.n > r.n;
