-- expect: pull_up_window_table_function
-- Fiscal years, from April on: slices of calendar months have no fixed length.
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' YEAR, INTERVAL '3' MONTH))
GROUP BY window_start, window_end, item
