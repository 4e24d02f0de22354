-- In queries that Spark plans itself aggregates are functions of the list of their rows.

CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;
CREATE FUNCTION initials AS 'user_functions.initials' LANGUAGE PYTHON;

SELECT initials(item) AS short, weightedAvg(price, quantity) OVER (PARTITION BY item ORDER BY bidtime) AS so_far FROM bid;
SELECT weightedAvg(DISTINCT price, quantity) FILTER (WHERE price > 1) AS wAvg FROM bid WHERE EXISTS (SELECT 1);
