SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, SUM(price) OVER (PARTITION BY item ORDER BY PROCTIME() ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s
FROM bid;
