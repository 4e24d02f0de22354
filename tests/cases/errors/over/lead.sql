SET 'execution.runtime-mode' = 'streaming';
SELECT item, LEAD(price) OVER (PARTITION BY item ORDER BY bidtime) AS s FROM bid;
