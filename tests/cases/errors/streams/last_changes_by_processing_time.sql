SET 'execution.runtime-mode' = 'streaming';
SELECT item, n FROM (SELECT item, COUNT(*) AS n, PROCTIME() AS at FROM bid GROUP BY item)
QUALIFY ROW_NUMBER() OVER (PARTITION BY n ORDER BY at DESC) = 1;
