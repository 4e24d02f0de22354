-- The counts have other names on both sides, and the aggregate comes first.
-- expect: rank_instead_of_self_join
SELECT n.window_start, n.window_end, n.item, n.bids, m.most
FROM (
    SELECT MAX(counted) AS most, window_start, window_end
    FROM (
        SELECT window_start, window_end, COUNT(*) AS counted
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '30' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item
    )
    GROUP BY window_start, window_end
) m
JOIN (
    SELECT item, window_start, window_end, COUNT(*) AS bids
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '30' MINUTE, INTERVAL '1' HOUR))
    GROUP BY item, window_start, window_end
) n
ON m.window_start = n.window_start AND m.window_end = n.window_end AND m.most <= n.bids;
