-- The same on streams, where state has the lists.
-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, item, COUNT(DISTINCT bidder) AS bidders, COUNT(DISTINCT quantity) AS quantities,
    SUM(DISTINCT quantity) AS total, AVG(DISTINCT quantity) AS mean,
    COUNT(DISTINCT quantity) FILTER (WHERE price > 3) AS dear, COUNT(DISTINCT rating) AS ratings, SUM(price) AS paid
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
