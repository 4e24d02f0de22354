SET 'execution.runtime-mode' = 'streaming';
SELECT item, n + RAND() AS r FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item);
