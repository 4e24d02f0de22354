-- expect: push_window_bounds_below_window
-- A view of windows, read for one day.
SELECT * FROM (
    SELECT window_start AS opened, window_end, item, COUNT(*) AS n
    FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
) WHERE opened = TIMESTAMP '2020-04-15 08:00:00';
