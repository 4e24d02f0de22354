-- expect-not: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_end;
