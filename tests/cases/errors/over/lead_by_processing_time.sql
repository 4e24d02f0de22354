SET 'execution.runtime-mode' = 'streaming';
SELECT item, LEAD(price) OVER (PARTITION BY item ORDER BY PROCTIME()) AS s FROM bid;
