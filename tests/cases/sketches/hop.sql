-- Percentiles of a column by sketch share one sketch; slices are made in Python, which is faster than Spark's sketches.
-- expect: split_local_global
SELECT window_start, window_end, item, APPROX_PERCENTILE(price, 0.5) AS p50, APPROX_PERCENTILE(price, ARRAY[0.9, 0.99]) AS tail,
    APPROX_PERCENTILE(quantity, 0.9, 100) FILTER (WHERE price > 3) AS coarse, KLL_SKETCH_AGG_DOUBLE(rating) AS ratings
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
