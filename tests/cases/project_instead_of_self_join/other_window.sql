-- expect-not: project_instead_of_self_join
WITH w AS (
    SELECT window_start, window_end, item, SUM(price) AS total, COUNT(*) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item
)
SELECT a.window_end, a.item, a.total - b.total AS more
FROM w AS a JOIN w AS b ON a.window_start = b.window_end AND a.item = b.item;
