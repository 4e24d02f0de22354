-- The busiest window of each item: an ordinary GROUP BY over a window aggregate.
SELECT item, MAX(n) AS most
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
)
GROUP BY item;
