SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM TO_CHANGELOG((SELECT item, n + RAND() AS r FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item)));
