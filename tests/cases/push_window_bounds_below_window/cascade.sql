-- expect: push_window_bounds_below_window
-- The days of a query of days are bounds of the minutes below, and these of the rows.
CREATE VIEW minutes AS SELECT window_time AS minute_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time;
SELECT window_start, window_end, MAX(n) AS most
FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(minute_time), INTERVAL '1' DAY))
WHERE window_start = TIMESTAMP '2020-04-15 00:00:00' GROUP BY window_start, window_end;
