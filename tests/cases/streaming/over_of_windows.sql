SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW rises AS
SELECT window_time, item, total - LAG(total, 1, 0) OVER (PARTITION BY item ORDER BY window_time) AS rise
FROM (
    SELECT window_time, item, SUM(price) AS total FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end, window_time, item
);
SELECT window_start, MAX(rise) AS most FROM TABLE(TUMBLE(TABLE rises, DESCRIPTOR(window_time), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
