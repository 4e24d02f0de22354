-- Without an aggregate: each row once per window of each kind.
SELECT window_name, window_start, window_end, window_time, item FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
)) AS w;
