SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends
-- expect-not: aggregate_both_sides_of_join
-- A bid can be late for the first of its windows while the auctions still keep it open.
SELECT l.window_end, l.item, l.n AS bids, r.n AS opened
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) l
JOIN (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
