SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join aggregate_both_sides_of_join split_local_global
-- expect-not: pair_rows_when_window_ends
-- Nexmark's q8: the bids have a key more than the join compares, but no aggregates.
SELECT l.window_start, l.window_end, l.item, l.bidder
FROM (
    SELECT window_start, window_end, item, bidder
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item, bidder
) l
JOIN (
    SELECT window_start, window_end, item
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
