SET 'execution.runtime-mode' = 'streaming';
SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY bidtime ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM bid;
