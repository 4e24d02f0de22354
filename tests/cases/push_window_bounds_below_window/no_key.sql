-- expect-not: push_window_bounds_below_window
-- The condition is on an aggregate of the windows.
SELECT item, MAX(window_start) AS latest
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY item HAVING MAX(window_start) >= TIMESTAMP '2020-04-15 08:00:00';
