-- expect-not: update_last_rows
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT window_start, COUNT(*) AS items
FROM TABLE(TUMBLE((SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) = 1),
    DESCRIPTOR(bidtime), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
