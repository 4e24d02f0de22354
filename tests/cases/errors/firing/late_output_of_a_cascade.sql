SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'totals';
SELECT window_start, window_end, COUNT(*) FROM (
    SELECT window_start, window_end, item FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
) GROUP BY window_start, window_end;
