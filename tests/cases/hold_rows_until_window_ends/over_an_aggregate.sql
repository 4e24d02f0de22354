SET 'execution.runtime-mode' = 'streaming';
-- expect-not: hold_rows_until_window_ends
-- The rows of an aggregate come together as they are.
SELECT window_end, item, bids
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS bids,
           ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC) AS place
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
)
WHERE place <= 3;
