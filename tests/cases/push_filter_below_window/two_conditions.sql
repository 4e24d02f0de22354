-- expect: push_filter_below_window
SELECT item, window_start
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE price > 10 AND window_start > TIMESTAMP '2020-04-15 08:00:00';
