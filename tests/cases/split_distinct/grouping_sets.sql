-- expect: split_distinct push_expand_below_window
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT window_start, window_end, item, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, ROLLUP (item);
