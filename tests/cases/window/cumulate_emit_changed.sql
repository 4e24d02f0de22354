SET 'tvfsql.cumulate.emit' = 'changed';
-- A step comes out only if a result differs from the step before; results are compared, not what they are made of.
SELECT item, window_end, MAX(price) AS most, AVG(price) AS mean
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY item, window_start, window_end;
