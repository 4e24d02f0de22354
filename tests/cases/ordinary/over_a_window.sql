-- OVER that ranks nothing: a window aggregate below a query of Spark's own.
SELECT window_start, item, total / SUM(total) OVER (PARTITION BY window_start, window_end) AS share
FROM (
    SELECT window_start, window_end, item, SUM(price) AS total
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
);
