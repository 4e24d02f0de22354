-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY ROLLUP (window_start, window_end, item);
