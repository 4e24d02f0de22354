-- A row of any window can meet it.
-- expect-not: drop_unread_windows
SELECT window_name, window_end, item, n FROM (
    SELECT window_name, window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(WINDOWS(
        TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute,
        HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
    ))
    GROUP BY window_name, window_start, window_end, item
) WHERE window_name = 'hour' OR n > 1;
