SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, COUNT(*)
FROM TABLE(TUMBLE(
    TABLE (
        SELECT MAX(bidtime) AS latest
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE))
        GROUP BY window_start, window_end
    ),
    DESCRIPTOR(latest), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
