-- Totals of the sets are ranked together; what tells the sets apart is part of the key.
-- expect: make_window_top_n
SELECT window_end, item, bidder, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, GROUPING SETS ((item), (bidder))
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC) <= 10;
