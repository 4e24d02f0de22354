-- expect: split_local_global
-- An aggregate with merge(): accumulators are made before rows are brought together by key, also for TUMBLE in batch.

CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;

SELECT item, window_start, window_end, COUNT(*) AS n, weightedAvg(price, quantity) AS wAvg, COUNT(DISTINCT bidder) AS uv
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end;
