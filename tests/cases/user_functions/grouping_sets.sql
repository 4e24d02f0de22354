-- expect: split_local_global push_expand_below_window

CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;

SELECT item, window_start, weightedAvg(price, quantity) AS wAvg
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, ROLLUP (item);
