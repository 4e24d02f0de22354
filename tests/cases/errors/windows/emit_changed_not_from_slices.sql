SET 'tvfsql.cumulate.emit' = 'changed';
SELECT item, HISTOGRAM_NUMERIC(price, 5)
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY item, window_start, window_end;
