-- expect-not: make_temporal_sort
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end
ORDER BY window_end;
