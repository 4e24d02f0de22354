SET 'execution.runtime-mode' = 'streaming';
SELECT item, LEAD(price, 1, 'none') OVER (PARTITION BY item ORDER BY bidtime) AS s FROM bid;
