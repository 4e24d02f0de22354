-- The condition is dropped too: all rows that are left pass it.
-- expect: choose_side
SELECT window_name, window_start, window_end, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    TUMBLE(INTERVAL '1' HOUR) AS hour,
    TUMBLE(INTERVAL '1' DAY) AS day
))
WHERE window_name IN ('minute', 'hour')
GROUP BY window_name, window_start, window_end;
