SET 'execution.runtime-mode' = 'streaming';
SELECT item, COUNT(*) FROM bid GROUP BY item LIMIT 3;
