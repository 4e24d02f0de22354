-- expect-not: push_filter_below_aggregate
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end
HAVING window_start > TIMESTAMP '2020-04-15 08:00:00';
