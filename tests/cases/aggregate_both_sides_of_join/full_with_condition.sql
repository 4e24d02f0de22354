SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends
-- expect-not: aggregate_both_sides_of_join
-- Groups with the same item that do not meet the other condition are two rows.
SELECT COALESCE(l.window_end, r.window_end) AS ends, l.n AS bids, r.n AS opened
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) l
FULL JOIN (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND l.n > r.n;
