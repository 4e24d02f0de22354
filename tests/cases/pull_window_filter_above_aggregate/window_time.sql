-- expect: pull_window_filter_above_aggregate
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE window_time < TIMESTAMP '2020-04-15 08:10:00'
GROUP BY window_start, window_end, item;
