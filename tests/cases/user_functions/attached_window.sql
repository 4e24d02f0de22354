-- expect: aggregate_attached_windows
-- The averages of items, averaged once more over the windows that they come with.

SET 'execution.runtime-mode' = 'streaming';
CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;

SELECT window_start, window_end, weightedAvg(wAvg, n) AS overall
FROM (SELECT item, window_start, window_end, weightedAvg(price, quantity) AS wAvg, COUNT(*) AS n
      FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
      GROUP BY item, window_start, window_end)
GROUP BY window_start, window_end;
