SET 'execution.runtime-mode' = 'streaming';
-- expect: hold_rows_until_window_ends
SELECT window_end, item, price, bidtime
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY bidtime DESC) AS place
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    WHERE price > 1
)
WHERE place = 1;
