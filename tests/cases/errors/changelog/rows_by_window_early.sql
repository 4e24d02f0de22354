SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, SUM(n) AS n FROM TABLE(TUMBLE((
    SELECT * FROM TO_CHANGELOG((SELECT window_time, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end, window_time)))
    , DESCRIPTOR(window_time), INTERVAL '1' HOUR))
GROUP BY window_start, window_end EMIT ON UPDATE;
