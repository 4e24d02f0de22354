SET 'execution.runtime-mode' = 'streaming';
SELECT item, LEAD(price IGNORE NULLS) OVER (PARTITION BY item ORDER BY bidtime) AS s FROM bid;
