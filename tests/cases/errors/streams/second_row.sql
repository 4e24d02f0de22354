SET 'execution.runtime-mode' = 'streaming';
SELECT item, price
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) AS place FROM bid)
WHERE place <= 2;
