SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends split_local_global
SELECT l.*
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
LEFT ANTI JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
