SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends split_local_global
SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
WHERE EXISTS (
    SELECT 1 FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
    WHERE r.window_start = l.window_start AND r.window_end = l.window_end AND r.item = l.item
        AND r.window_start >= TIMESTAMP '2024-03-01 00:00:00'
);
