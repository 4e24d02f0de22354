-- The best two items of each minute, added up by the hour: watermarks pass the Top-N.
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, SUM(total) AS total, COUNT(*) AS times
FROM TABLE(TUMBLE(
    (
        SELECT window_time, item, total
        FROM (
            SELECT window_start, window_end, window_time, item, SUM(price) AS total
            FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
            GROUP BY window_start, window_end, window_time, item
            HAVING COUNT(*) > 1
        )
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC) <= 2
    ),
    DESCRIPTOR(window_time), INTERVAL '1' HOUR
))
GROUP BY window_start, window_end, item;
