-- expect: make_top_n retract_changes
SET 'execution.runtime-mode' = 'streaming';
SELECT item, n FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item) QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 3;
