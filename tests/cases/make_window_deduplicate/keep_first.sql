-- expect: make_window_deduplicate
SELECT window_end, bidder, price, place
FROM (
    SELECT window_start, window_end, bidder, price, bidtime AS t,
           ROW_NUMBER() OVER (PARTITION BY bidder, window_end, window_start ORDER BY bidtime) AS place
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
)
WHERE place < 2;
