-- One argument of DISTINCT: rows are not copied.
-- expect: split_distinct split_local_global
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT window_start, window_end, item, COUNT(*) AS n, SUM(quantity) AS pieces, MAX(rating) AS best,
    COUNT(DISTINCT bidder) AS bidders
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
