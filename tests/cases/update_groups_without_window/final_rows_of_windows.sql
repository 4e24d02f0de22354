-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SELECT item, MAX(n) AS most
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
)
GROUP BY item;
