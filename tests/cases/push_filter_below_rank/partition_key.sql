-- expect: push_filter_below_rank
SELECT *
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY total DESC) AS place
    FROM (
        SELECT window_start, window_end, item, bidder, SUM(price) AS total
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, item, bidder
    )
)
WHERE place <= 3 AND item = 'a' AND window_end > TIMESTAMP '2024-01-01 00:00:00';
