-- A step is left out if no bucket has changed, which no bucket can tell.
-- expect-not: split_distinct
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'tvfsql.cumulate.emit' = 'changed';
SELECT window_start, window_end, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
