-- Rows that are late for any of the windows are counted.
-- expect-not: drop_unread_windows
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, item, n FROM (
    SELECT window_name, window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(WINDOWS(
        TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute,
        HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
    ))
    GROUP BY window_name, window_start, window_end, item
) WHERE window_name = 'hour';
