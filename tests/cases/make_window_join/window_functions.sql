-- A window of the right side may be NULL, so it tells nothing: the rank below is of the left one's windows.
-- expect: make_window_join make_window_top_n
SELECT l.window_start, l.item, price, reserve
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR)) l
LEFT JOIN TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR)) r
ON l.window_end = r.window_end AND r.window_start = l.window_start AND l.window_time = r.window_time
    AND l.item IS NOT DISTINCT FROM r.item
QUALIFY ROW_NUMBER() OVER (PARTITION BY l.window_start, l.window_end ORDER BY price DESC) <= 3;
