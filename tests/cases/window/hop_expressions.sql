-- Expressions over aggregates, the same aggregate twice, and a key inside an expression.
SELECT
    window_start,
    UPPER(item) || '!' AS name,
    SUM(price) / COUNT(*) AS mean_price,
    CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS how_many,
    SUM(price * quantity) AS turnover,
    SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
HAVING SUM(price) > 100 OR MAX(bidder) IS NULL;
