-- Several DISTINCT arguments read the source once: a slice has a list of the values of each of them. COUNT, SUM and AVG of
-- one argument share its list; one with FILTER has its own.
-- expect: split_local_global
SELECT window_start, window_end, item, COUNT(DISTINCT bidder) AS bidders, COUNT(DISTINCT quantity) AS quantities,
    SUM(DISTINCT quantity) AS total, AVG(DISTINCT quantity) AS mean,
    COUNT(DISTINCT quantity) FILTER (WHERE price > 3) AS dear, COUNT(DISTINCT rating) AS ratings, SUM(price) AS paid
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
