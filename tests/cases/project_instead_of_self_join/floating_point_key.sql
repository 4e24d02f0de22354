-- expect-not: project_instead_of_self_join
WITH w AS (
    SELECT window_start, window_end, CAST(price AS DOUBLE) AS item, SUM(price) AS total, COUNT(*) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, CAST(price AS DOUBLE)
)
SELECT a.window_end, a.item, b.n
FROM w AS a JOIN w AS b ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.item = b.item;
