-- A key of its own, one window column, a condition on other columns.
-- expect: rank_instead_of_self_join
SELECT b.window_end, b.item, b.price, l.lowest, b.bidtime
FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) WHERE price > 0) b
JOIN (
    SELECT item, window_start, window_end, MIN(price) AS lowest
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    WHERE price > 0
    GROUP BY item, window_start, window_end
) l
ON b.item = l.item AND b.window_end = l.window_end AND l.lowest = b.price AND b.price + l.lowest > 4;
