-- A condition on the window is met when it ends, so the buffer keeps all rows until then.
-- expect: hold_rows_until_window_ends
SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, item, price
FROM (
    SELECT *, RANK() OVER (PARTITION BY window_start, window_end, item ORDER BY price DESC) AS place
    FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    WHERE EXTRACT(MINUTE FROM window_end) < price
)
WHERE place <= 3;
