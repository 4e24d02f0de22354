-- What only ORDER BY needs does not come out.
SELECT window_start, item
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
ORDER BY MAX(price) DESC;
