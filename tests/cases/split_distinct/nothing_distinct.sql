-- MAX does not care about DISTINCT.
-- expect-not: split_distinct
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT window_start, window_end, item, COUNT(bidder) AS bidders, MAX(DISTINCT price) AS top
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
