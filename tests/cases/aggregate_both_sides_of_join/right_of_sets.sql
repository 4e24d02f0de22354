SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join aggregate_both_sides_of_join split_local_global
-- expect-not: pair_rows_when_window_ends
SELECT r.window_end, r.item, r.seller, l.bidder
FROM (
    SELECT DISTINCT window_start, window_end, item, bidder
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
) l
RIGHT JOIN (
    SELECT DISTINCT window_start, window_end, item, seller
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
