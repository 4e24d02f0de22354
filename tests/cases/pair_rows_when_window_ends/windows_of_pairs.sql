SET 'execution.runtime-mode' = 'streaming';
-- expect: make_window_join pair_rows_when_window_ends make_window_top_n aggregate_attached_windows
-- What comes out of a window join has its window still: it is ranked, joined again and grouped by it.
SELECT a.window_start, a.window_end, a.item, MAX(a.price) AS top, COUNT(reserve) AS n
FROM (
    SELECT l.window_start, l.window_end, l.item, price, reserve
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
    LEFT JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
    ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND price >= reserve
    QUALIFY ROW_NUMBER() OVER (PARTITION BY l.window_start, l.window_end, bidder ORDER BY price DESC) <= 3
) a
JOIN TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.price < b.price
GROUP BY a.window_start, a.window_end, a.item;
