-- expect: split_distinct aggregate_attached_windows split_local_global
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, SUM(price) AS total, COUNT(DISTINCT bidder) AS bidders, COUNT(DISTINCT item) AS items
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
