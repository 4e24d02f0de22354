-- A window that is its only slice is Spark's: it makes the sketch.
-- expect-not: split_local_global
SELECT window_start, window_end, item, APPROX_PERCENTILE(price, 0.5) AS p50, KLL_MERGE_AGG_DOUBLE(CAST(item AS BINARY), 50) AS merged
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
