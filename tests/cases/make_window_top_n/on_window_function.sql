-- No aggregate below; ties go by all columns that the ranking SELECT shows.
-- expect: make_window_top_n
SELECT item, bidder, price, place
FROM (
    SELECT item, bidder, price, rating, RANK() OVER (PARTITION BY window_start, window_end, item ORDER BY price DESC NULLS LAST) AS place
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
)
WHERE 2 >= place;
