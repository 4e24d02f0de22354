-- expect: push_window_bounds_below_window
SET 'table.local-time-zone' = 'Europe/Berlin';
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(joined), INTERVAL '10' MINUTE))
WHERE window_start > TIMESTAMP '2020-04-15 08:00:00' GROUP BY window_start, window_end;
