SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(
    (SELECT item, closes FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))),
    DESCRIPTOR(closes), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
