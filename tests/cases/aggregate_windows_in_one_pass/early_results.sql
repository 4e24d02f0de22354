-- expect-not: aggregate_windows_in_one_pass
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
INSERT INTO screen
SELECT item, COUNT(*) AS n
FROM TABLE(WINDOWS(
    TABLE bid, DESCRIPTOR(bidtime), TUMBLE(INTERVAL '1' MINUTE) AS minute, TUMBLE(INTERVAL '1' HOUR) AS hour
))
GROUP BY window_name, window_start, window_end, item;
