-- expect: split_distinct aggregate_attached_windows split_local_global
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, window_time, item, COUNT(*) AS n, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, window_time, item;
