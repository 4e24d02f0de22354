-- expect-not: push_unnest_below_window
SELECT window_start, window_end, edge, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
CROSS JOIN UNNEST(ARRAY[window_start, bidtime]) AS t (edge)
GROUP BY window_start, window_end, edge;
