SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.cumulate.emit' = 'changed';
SELECT item AS `before`, window_end, COUNT(*) AS n
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY, INTERVAL '0' HOUR, TRUE))
GROUP BY item, window_start, window_end;
