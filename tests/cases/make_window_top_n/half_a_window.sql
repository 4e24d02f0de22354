-- window_start alone is not a window: Spark's own.
-- expect-not: make_window_top_n
SELECT *
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY total DESC) AS place
    FROM (
        SELECT window_start, window_end, item, SUM(price) AS total
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, item
    )
)
WHERE place <= 3;
