SELECT window_start, window_end, HISTOGRAM_NUMERIC(price, 5) AS middle
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
