-- expect: update_groups_without_window
-- expect-not: complete_window_keys
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start;
