-- expect-not: split_local_global
-- Without merge() the rows of a window come together as a list.

CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON;

SELECT item, window_start, window_end, COUNT(*) AS n, middle(rating) FILTER (WHERE quantity > 1) AS rated
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end;
