-- the session stays by itself
-- expect: aggregate_windows_in_one_pass
SET 'execution.runtime-mode' = 'streaming';
SELECT window_name, window_start, item, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute,
    TUMBLE(INTERVAL '1' HOUR) AS hour, SESSION(INTERVAL '5' MINUTE) AS visit
))
GROUP BY window_name, window_start, window_end, item;
