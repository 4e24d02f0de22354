-- The other query stands alone; its columns are compared in their order.
-- expect: make_window_join
SELECT item, price FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) l
WHERE (window_start, window_end, UPPER(item)) IN (
    SELECT window_start, window_end, item FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
    HAVING COUNT(*) > 1
);
