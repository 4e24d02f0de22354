-- expect: make_window_deduplicate
SELECT item, price, bidtime
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY bidtime DESC) AS place
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
)
WHERE place = 1;
