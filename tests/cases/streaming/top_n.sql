SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, item, total, place
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC NULLS FIRST) AS place
    FROM (
        SELECT window_start, window_end, item, SUM(price) AS total
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, item
    )
)
WHERE place <= 3;
