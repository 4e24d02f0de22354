-- The expression is computed below the window, so the buffer can rank by it.
-- expect: hold_rows_until_window_ends
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, item, price
FROM (
    SELECT *, RANK() OVER (PARTITION BY window_start, window_end, item ORDER BY price * quantity DESC) AS place
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
)
WHERE place <= 3;
