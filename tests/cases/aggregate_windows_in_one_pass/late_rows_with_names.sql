-- expect: aggregate_windows_in_one_pass
-- A late row says which window it missed.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE late_bids (item STRING, window_name STRING, window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tvfsql.late-output' = 'late_bids';
SELECT window_name, window_end, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute, TUMBLE(INTERVAL '1' HOUR) AS hour
))
GROUP BY window_name, window_start, window_end;
