-- The new column has the name of one that the window function reads: below it is called something else.
-- expect: push_project_below_window
SELECT price * 2 AS bidtime, window_start
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE));
