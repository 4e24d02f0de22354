-- The first step that the filter lets through is compared with none.
SET 'tvfsql.cumulate.emit' = 'changed';
SELECT window_end, COUNT(*) AS n
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
WHERE window_end > TIMESTAMP '2020-04-15 12:00:00'
GROUP BY window_start, window_end;
