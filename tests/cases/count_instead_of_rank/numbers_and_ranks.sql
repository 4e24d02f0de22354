-- expect: count_instead_of_rank
SET 'execution.runtime-mode' = 'streaming';
SELECT item, bidtime, ROW_NUMBER() OVER w AS n, RANK() OVER w AS r, DENSE_RANK() OVER w AS d
FROM bid
WINDOW w AS (PARTITION BY item ORDER BY bidtime);
