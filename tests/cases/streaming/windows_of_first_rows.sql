SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, item, COUNT(*) AS bidders
FROM TABLE(TUMBLE(
    (SELECT item, bidder, bidtime FROM bid WHERE price > 1
     QUALIFY ROW_NUMBER() OVER (PARTITION BY item, bidder ORDER BY bidtime) = 1),
    DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
