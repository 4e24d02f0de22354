-- window_time is no key here.
-- expect-not: pull_window_filter_above_aggregate
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE window_time > TIMESTAMP '2020-04-15 08:00:00'
GROUP BY window_start, window_end;
