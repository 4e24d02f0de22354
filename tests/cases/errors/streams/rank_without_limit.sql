SET 'execution.runtime-mode' = 'streaming';
SELECT item, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid;
