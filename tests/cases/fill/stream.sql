SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, window_time, item, COUNT(*) AS n, COUNT(DISTINCT bidder) AS bidders, LOCF(AVG(price) * 2) AS last
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE, FILL => INTERVAL '1' HOUR))
WHERE price > 5
GROUP BY window_start, window_end, window_time, item
HAVING COUNT(*) = 0;
