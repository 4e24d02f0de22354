SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, LAG(s) OVER (ORDER BY window_end) AS before
FROM (SELECT window_end, SUM(price) AS s FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end);
