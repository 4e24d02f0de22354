SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends
-- A NULL among the items of a window lets no row of that window pass.
SELECT item, price FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
WHERE item NOT IN (
    SELECT item FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
    WHERE r.window_start = l.window_start AND r.window_end = l.window_end AND r.seller <> l.bidder
);
