SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n) AS place FROM (
        SELECT window_start, window_end, item, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item
    )
) WHERE place <= 3;
