-- All results say which steps come out.
SET 'tvfsql.cumulate.emit' = 'changed';
SELECT item, n FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS total
    FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
);
