SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE totals, DESCRIPTOR(window_start), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
