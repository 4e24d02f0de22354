-- expect: aggregate_windows_of_readers_in_one_pass
SELECT a.window_end, a.item, a.n, b.total
FROM (
    SELECT window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item
) AS a
JOIN (
    SELECT window_end, item, SUM(price) AS total
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) AS b
ON a.window_end = b.window_end AND a.item = b.item;
