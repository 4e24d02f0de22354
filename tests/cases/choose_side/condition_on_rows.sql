-- Rows of both windows can pass.
-- expect-not: choose_side
SELECT window_name, window_start, window_end, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
))
WHERE item = 'hour'
GROUP BY window_name, window_start, window_end;
