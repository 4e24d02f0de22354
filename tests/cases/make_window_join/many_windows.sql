-- Spark knows how many slices there are, not how many windows: with a hint it does not broadcast them.
SELECT l.window_start, l.item, l.n, r.most
FROM (SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
      GROUP BY window_start, window_end, item) l
JOIN (SELECT window_start, window_end, item, MAX(price) AS most FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
      GROUP BY window_start, window_end, item) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
