-- expect-not: push_window_bounds_below_window
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00' OR item = 'a' OR window_start = window_end
GROUP BY window_start, window_end, item;
