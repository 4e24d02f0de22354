-- expect-not: push_filter_below_gap_fill push_window_bounds_below_window
SELECT window_start, item, LOCF(MAX(price)) AS last
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, FILL => TRUE))
GROUP BY window_start, window_end, item
HAVING window_start >= TIMESTAMP '2024-03-01 12:00:00' AND LOCF(MAX(price)) > 10;
