-- expect: hold_rows_until_window_ends
-- On streams a row has no session before that ends.
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, window_start, window_end, window_time
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE));
