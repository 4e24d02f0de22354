SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(
    (SELECT item, t - INTERVAL '8' HOUR AS earlier
     FROM (SELECT item, bidtime AS t FROM bid UNION ALL SELECT item, opened FROM auction)),
    DESCRIPTOR(earlier), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
