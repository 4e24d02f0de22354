-- On streams the rows of both sides are one stream, kept by key until the window has ended on both.
EXPLAIN PHYSICAL SELECT l.item, l.window_start, l.window_end, bids, offers
FROM (SELECT item, window_start, window_end, COUNT(*) AS bids
      FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
      GROUP BY item, window_start, window_end) AS l
LEFT JOIN (SELECT item, window_start, window_end, COUNT(*) AS offers
      FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '15' MINUTE))
      GROUP BY item, window_start, window_end) AS r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT l.item, l.window_start, l.window_end, bids, offers
FROM (SELECT item, window_start, window_end, COUNT(*) AS bids
      FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
      GROUP BY item, window_start, window_end) AS l
LEFT JOIN (SELECT item, window_start, window_end, COUNT(*) AS offers
      FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '15' MINUTE))
      GROUP BY item, window_start, window_end) AS r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
