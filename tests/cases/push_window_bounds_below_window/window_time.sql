-- expect: push_window_bounds_below_window
SELECT item, price, window_time
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE window_time BETWEEN TIMESTAMP '2020-04-15 08:00:00' AND CURRENT_DATE;
