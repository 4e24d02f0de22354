-- Two aggregates, the first by buckets of the distinct values; several DISTINCT arguments need a copy of the rows for each.
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

EXPLAIN PHYSICAL SELECT item, window_start, window_end, SUM(price) AS total, COUNT(DISTINCT bidder) AS bidders, COUNT(DISTINCT price) AS prices
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;
