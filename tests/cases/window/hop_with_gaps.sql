-- Rows between two windows are in none, and a warning says so.
SELECT window_start, window_end, item, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '4' MINUTE))
GROUP BY window_start, window_end, item;
