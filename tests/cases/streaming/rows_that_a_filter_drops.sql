-- expect: split_local_global
-- They bring their watermarks, but what could fail is not computed for them, and functions are not called.
SET 'execution.runtime-mode' = 'streaming';
CREATE FUNCTION doubled AS 'user_functions.Doubled' LANGUAGE PYTHON;

SELECT window_start, window_end, JSON_VALUE(item, '$.kind') AS kind, SUM(bidder / quantity) AS share,
    MAX(price) AS highest, MAX(doubled(quantity)) AS most
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE quantity <> 0 AND doubled(bidder) > 3
GROUP BY window_start, window_end, JSON_VALUE(item, '$.kind');
