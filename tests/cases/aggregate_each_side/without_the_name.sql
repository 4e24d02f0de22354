-- Rows of both windows fall together.
-- expect-not: aggregate_each_side
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
))
GROUP BY window_start, window_end;
