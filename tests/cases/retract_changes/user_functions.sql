-- expect: retract_changes
-- They get the rows that are left, so they need no retract(), and on streams no merge() either.
CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;
CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON;
SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT window_end, item, weightedAvg(price, quantity) AS mean, weightedAvg(DISTINCT price, 1) AS of_different,
    middle(quantity) FILTER (WHERE price > 2) AS middle
FROM TABLE(HOP(TABLE stock, DESCRIPTOR(changed), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
