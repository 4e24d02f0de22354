-- The sides have other names and other orders of columns; a condition compares other columns; one bound of the window is enough.
-- expect: project_instead_of_self_join
SELECT a.window_end, a.item, a.total, b.bids
FROM (
    SELECT window_start, window_end, item, SUM(price) AS total, COUNT(*) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item
) a
JOIN (
    SELECT COUNT(*) AS bids, item AS thing, window_end AS ended
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '30' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) b
ON a.window_end = b.ended AND b.thing = a.item AND a.total > b.bids;
