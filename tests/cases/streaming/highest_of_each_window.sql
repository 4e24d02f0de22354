-- A join of rows with their own MAX is a rank, which buffers the best rows only.
-- expect: rank_instead_of_self_join hold_rows_until_window_ends
SET 'execution.runtime-mode' = 'streaming';
SELECT b.window_start, b.item, b.price, b.bidtime, h.highest
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)) b
JOIN (
    SELECT window_start, window_end, item, MAX(price) AS highest
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
) h
ON b.window_start = h.window_start AND b.window_end = h.window_end AND b.item = h.item AND b.price >= h.highest;
