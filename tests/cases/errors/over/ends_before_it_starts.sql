SET 'execution.runtime-mode' = 'streaming';
SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY bidtime ROWS BETWEEN 3 FOLLOWING AND 1 FOLLOWING) AS s FROM bid;
