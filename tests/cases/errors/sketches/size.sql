SELECT window_start, window_end, KLL_SKETCH_AGG_BIGINT(quantity, 4) AS a
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
