SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends
-- The last minute beside the last hour: both are final at the end that they share.
SELECT m.item, m.window_end, m.n AS minute_, h.n AS hour_
FROM (
    SELECT item, window_start, window_end, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
    GROUP BY item, window_start, window_end
) m
JOIN (
    SELECT item, window_start, window_end, COUNT(*) AS n
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
    GROUP BY item, window_start, window_end
) h
ON m.item = h.item AND m.window_end = h.window_end;
