-- By the window_time of the windows below, and (the relaxed form) by their start and end as they are.
EXPLAIN PHYSICAL SELECT window_start, window_end, SUM(n) AS n
FROM TABLE(TUMBLE(
    (SELECT item, window_time AS rowtime, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE))
     GROUP BY item, window_start, window_end, window_time),
    DESCRIPTOR(rowtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT window_start, window_end, SUM(n) AS n
FROM TABLE(TUMBLE(
    (SELECT item, window_time AS rowtime, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE))
     GROUP BY item, window_start, window_end, window_time),
    DESCRIPTOR(rowtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

EXPLAIN PHYSICAL SELECT window_start, window_end, MAX(n) AS most
FROM (SELECT item, window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE)) GROUP BY item, window_start, window_end)
GROUP BY window_start, window_end;
