-- The rank is not selected, the columns have other names, the range does not start at 1.
-- expect: make_window_top_n
SELECT s, item, total
FROM (
    SELECT s, item, total, ROW_NUMBER() OVER (PARTITION BY s, e ORDER BY total DESC, n) AS place
    FROM (
        SELECT window_start AS s, window_end AS e, item, SUM(price) AS total, COUNT(*) AS n
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item
    )
)
WHERE place > 1 AND place <= 3;
