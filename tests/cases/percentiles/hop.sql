-- All percentiles of a column share one bag of its values.
-- expect: split_local_global
SELECT window_start, window_end, item, MEDIAN(price) AS p50, PERCENTILE(price, ARRAY[0.9, 0.99]) AS tail,
    PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY price) AS middle, PERCENTILE(rating, 0.5, quantity) AS weighted
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
