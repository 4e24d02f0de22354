SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SELECT window_end, item, n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
)
QUALIFY place <= 3;
