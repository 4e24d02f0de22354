-- Inherited window columns: the items of a window counted again, without a second window function.
SELECT window_start, window_end, COUNT(*) AS items, SUM(n) AS bids
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
)
GROUP BY window_start, window_end;
