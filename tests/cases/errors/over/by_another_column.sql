SET 'execution.runtime-mode' = 'streaming';
SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY price) AS s FROM bid;
