-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, APPROX_PERCENTILE(price, ARRAY[0.5, 0.99], 10000) AS tail,
    APPROX_TOP_K(bidder, 3, 100) AS busiest, HLL_SKETCH_AGG(bidder, 10) AS bidders
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
