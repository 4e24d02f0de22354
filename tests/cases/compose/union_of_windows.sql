-- Batch groups what it is given: rows that were copied into their windows, whatever these are.
SELECT window_start, window_end, COUNT(*) AS n
FROM (
    SELECT window_start, window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    UNION ALL
    SELECT window_start, window_end FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE))
)
GROUP BY window_start, window_end;
