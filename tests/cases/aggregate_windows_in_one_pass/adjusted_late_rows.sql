-- a late row would count in another slice for each window
-- expect-not: aggregate_windows_in_one_pass
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
SELECT window_name, window_start, item, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute, TUMBLE(INTERVAL '1' HOUR) AS hour
))
GROUP BY window_name, window_start, window_end, item;
