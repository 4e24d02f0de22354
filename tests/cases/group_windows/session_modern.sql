-- same-plan-as: group_windows/session
SELECT window_start AS starts, window_end AS ends, b.item, bidder, COUNT(*) AS n
FROM TABLE(SESSION(
    TABLE (SELECT * FROM bid WHERE price > 10 AND item <> 'x') PARTITION BY (item, bidder),
    DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) AS b
GROUP BY window_start, window_end, window_time, item, bidder
HAVING window_time IS NOT NULL;
