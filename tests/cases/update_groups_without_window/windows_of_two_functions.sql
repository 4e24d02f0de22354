-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, COUNT(*) AS n
FROM (
    SELECT window_start, window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    UNION ALL
    SELECT window_start, window_end
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
)
GROUP BY window_start, window_end;
