-- expect: aggregate_windows_in_one_pass
SET 'execution.runtime-mode' = 'streaming';
SELECT window_name, window_start, window_end, item, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' MINUTE) AS minute,
    HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour,
    CUMULATE(INTERVAL '5' MINUTE, INTERVAL '1' DAY) AS day
))
GROUP BY window_name, window_start, window_end, item;
