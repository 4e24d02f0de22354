-- expect: split_local_global
-- Rows that differ are merged as a list, with or without merge().

SET 'execution.runtime-mode' = 'streaming';
CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON;

SELECT window_end, middle(DISTINCT rating) AS rated
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
