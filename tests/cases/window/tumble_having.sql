SELECT window_start, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
HAVING SUM(price) > 100 AND COUNT(*) > 1 AND window_start > TIMESTAMP '2020-04-15 08:00:00'
ORDER BY total DESC NULLS LAST, item
LIMIT 10 OFFSET 2;
