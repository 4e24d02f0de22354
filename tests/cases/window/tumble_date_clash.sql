-- The input has columns of the window's names: they step aside.
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE totals, DESCRIPTOR(window_start), INTERVAL '1' DAY)) AS t(started, item, total, window_start, window_end, window_time)
GROUP BY window_start, window_end;
