-- expect: make_window_top_n
SELECT window_start, bidder, price
FROM (
    SELECT window_start, window_end, bidder, price, DENSE_RANK() OVER (PARTITION BY window_start, window_end ORDER BY price) AS place
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
)
WHERE place BETWEEN 2 AND 5 AND place < 4 AND price > 3;
