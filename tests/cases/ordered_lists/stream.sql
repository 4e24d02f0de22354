-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, ARRAY_AGG(bidder) WITHIN GROUP (ORDER BY price DESC NULLS FIRST) AS bidders,
    COUNT(DISTINCT item, bidder) AS pairs
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
