-- A copy of the rows for each argument of DISTINCT; the other aggregates go with the first.
-- expect: split_distinct
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.optimizer.distinct-agg.split.bucket-num' = '16';
SELECT window_start, window_end, AVG(quantity) AS mean, COUNT(DISTINCT bidder) AS bidders,
    COUNT(DISTINCT upper(item)) FILTER (WHERE quantity > 3) AS items, AVG(DISTINCT bidder) AS middle,
    FIRST_VALUE(item) FILTER (WHERE price > 5) AS opening, COUNT(*) FILTER (WHERE price > 5) AS dear
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
