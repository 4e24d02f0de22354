SET 'execution.runtime-mode' = 'streaming';
SELECT COUNT(*) FROM FROM_CHANGELOG((SELECT item, COUNT(*) AS n, 'INSERT' AS op FROM bid GROUP BY item));
