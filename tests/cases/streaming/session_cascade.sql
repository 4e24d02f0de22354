-- How many sessions ended in each hour, and how long they were.
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, COUNT(*) AS sessions, SUM(n) AS bids
FROM TABLE(TUMBLE((
    SELECT window_time AS ended, item, COUNT(*) AS n
    FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, window_time, item
), DESCRIPTOR(ended), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
