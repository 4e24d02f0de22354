SET 'execution.runtime-mode' = 'streaming';
SELECT item, COUNT(*) AS n FROM bid GROUP BY item EMIT EVERY INTERVAL '10' SECOND;
