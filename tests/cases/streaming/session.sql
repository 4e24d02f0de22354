SET 'execution.runtime-mode' = 'streaming';
SELECT item, window_start, window_end, SUM(price) AS total, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end;
