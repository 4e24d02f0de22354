SET 'execution.runtime-mode' = 'streaming';
WITH each_minute AS (
    SELECT * FROM GAP_FILL(bid, bidtime, INTERVAL '1' MINUTE, LOCF(price), PARTITION_BY(item), FILL => INTERVAL '5' MINUTE)
)
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE each_minute, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
