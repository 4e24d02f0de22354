SET 'execution.runtime-mode' = 'streaming'; CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON;
SELECT window_end, middle(rating) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
