SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, SUM(bids) AS bids
FROM TABLE(TUMBLE(
    (SELECT item, COUNT(*) AS bids, PROCTIME() AS proc
     FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
     GROUP BY window_start, window_end, item
     HAVING COUNT(*) > 1),
    DESCRIPTOR(proc), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
