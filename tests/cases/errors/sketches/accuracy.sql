SELECT window_start, window_end, APPROX_PERCENTILE(price, 0.5, 50000) AS a
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
