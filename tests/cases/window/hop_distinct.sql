SELECT
    window_start, window_end,
    COUNT(DISTINCT bidder) AS bidders,
    COUNT(DISTINCT bidder) FILTER (WHERE price > 10) AS rich_bidders,
    SUM(DISTINCT quantity) AS quantities,
    AVG(DISTINCT price) AS mean_price,
    APPROX_COUNT_DISTINCT(item) AS items,
    MAX(DISTINCT price) AS most
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
