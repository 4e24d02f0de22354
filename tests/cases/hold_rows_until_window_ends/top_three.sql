-- A rank by columns, of which the projection renames one: the buffer keeps the best three of each item.
-- expect: hold_rows_until_window_ends
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, thing, amount
FROM (
    SELECT *, DENSE_RANK() OVER (PARTITION BY window_start, window_end, thing ORDER BY amount DESC, window_time) AS place
    FROM (
        SELECT window_start, window_end, window_time, item AS thing, price AS amount
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    )
)
WHERE place <= 3;
