-- expect-not: push_filter_below_window
SELECT item, window_start
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE window_start > TIMESTAMP '2020-04-15 08:00:00' OR price > 10;
