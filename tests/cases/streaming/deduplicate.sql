SET 'execution.runtime-mode' = 'streaming';
SELECT item, bidder, n
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY window_time) AS place
    FROM (
        SELECT window_start, window_end, window_time, item, bidder, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, window_time, item, bidder
    )
)
WHERE place = 1;
