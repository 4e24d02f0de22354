SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends split_local_global
-- Rows of the left side have no window yet: they get one for each that holds them.
SELECT l.window_time, l.item, price, n
FROM (
    SELECT * FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    WHERE price > 10 AND bidtime > window_end - INTERVAL '20' MINUTE
) l
LEFT JOIN (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(CUMULATE(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item IS NOT DISTINCT FROM r.item;
