-- expect: count_instead_of_rank
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, n
FROM (SELECT item, price, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) AS n FROM bid)
WHERE n <= 3;
