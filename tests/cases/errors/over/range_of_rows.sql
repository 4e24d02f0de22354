SET 'execution.runtime-mode' = 'streaming';
SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY bidtime RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING) AS s FROM bid;
