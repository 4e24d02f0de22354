SELECT window_start, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item
UNION ALL
SELECT window_start, item, COUNT(*)
FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item
ORDER BY n DESC, 2
LIMIT 5;
