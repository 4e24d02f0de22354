SET 'execution.runtime-mode' = 'streaming';
SELECT window_time, COUNT(DISTINCT bidder) AS bidders, SUM(DISTINCT quantity) AS quantities
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time;
