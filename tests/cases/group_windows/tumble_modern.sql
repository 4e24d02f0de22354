SELECT window_start AS starts, window_end AS ends, window_time AS rowtime, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE price > 3
GROUP BY window_start, window_end, window_time, item
HAVING COUNT(*) > 1
ORDER BY window_end, item;
