-- expect-not: split_distinct
SELECT window_start, window_end, item, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
