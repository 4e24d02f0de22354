-- expect: split_local_global

SET 'execution.runtime-mode' = 'streaming';
CREATE TEMPORARY FUNCTION IF NOT EXISTS weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;

SELECT item, window_end, weightedAvg(price, quantity) FILTER (WHERE rating > 2) AS wAvg, MAX(price) AS highest
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end;
