SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(
    (SELECT item, bidtime + INTERVAL '1' DAY AS due FROM bid
     QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) = 1),
    DESCRIPTOR(due), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
