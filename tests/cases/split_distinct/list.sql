-- A list goes by time, which the lists of buckets no longer have.
-- expect-not: split_distinct
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT window_start, window_end, COUNT(DISTINCT bidder) AS bidders, LISTAGG(item) AS items
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
