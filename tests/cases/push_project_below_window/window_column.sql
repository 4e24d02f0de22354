-- expect-not: push_project_below_window
SELECT item, window_end - INTERVAL '1' SECOND AS last_second
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE));
