-- expect: aggregate_each_side
SELECT DISTINCT window_name, window_start, window_end, item
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour
));
