-- Expand stands below the windows, so that slices can make them.
EXPLAIN PHYSICAL SELECT item, bidder, window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
GROUP BY window_start, window_end, CUBE (item, bidder);

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, bidder, window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
GROUP BY window_start, window_end, CUBE (item, bidder);
