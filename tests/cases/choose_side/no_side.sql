-- No row passes: both sides stay, and drop their rows.
-- expect-not: choose_side
SELECT window_name, window_start, window_end, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
))
WHERE window_name = 'day'
GROUP BY window_name, window_start, window_end;
