-- expect: make_window_join
SELECT l.window_start, l.item, l.n AS bids, r.n AS opened
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) l
LEFT JOIN (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) r
ON l.item = r.item AND l.window_start = r.window_start AND l.window_end = r.window_end AND l.n > r.n;
