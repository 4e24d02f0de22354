SELECT
    window_start, window_end, item,
    COUNT(*) AS n,
    COUNT(*) FILTER (WHERE price > 10) AS dear,
    SUM(price) FILTER (WHERE price > 10 OR bidder IS NULL) AS dear_total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
